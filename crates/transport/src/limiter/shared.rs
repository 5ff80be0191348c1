//! The SEC's window in a locked file, so that all processes of one data root together keep to it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use loom_domain::Timestamp;
use serde::{Deserialize, Serialize};

use crate::scope::SEC_PER_SECOND;

const FILE: &str = "rate-sec.json";
const WINDOW_MS: i64 = 1_000;
/// Longest pause that is believed.
const PAUSE_MAX_MS: i64 = 24 * 3_600_000;
/// Largest file that is read.
const FILE_BYTES_MAX: u64 = 4_096;
/// Wait for a process that holds the lock.
const BUSY: Duration = Duration::from_millis(5);
/// Times that a pause is tried to be shared.
const TRIES: u32 = 200;

/// What the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// A permit was taken.
    Go,
    /// Not yet.
    Wait(Duration),
    /// The file cannot be used; the window of this process alone counts.
    Unusable,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct State {
    /// Wall-clock milliseconds of the last permits, oldest first.
    times: Vec<i64>,
    /// Nobody passes before.
    paused_until: i64,
}

impl State {
    /// Takes a permit, or tells the milliseconds to wait. Times of the future, after a step of the clock, count as now.
    fn take(&mut self, now: i64) -> Option<i64> {
        let pause = self.paused_until.min(now.saturating_add(PAUSE_MAX_MS)).saturating_sub(now);
        if pause > 0 {
            return Some(pause);
        }
        self.times.retain_mut(|time| {
            *time = (*time).min(now);
            now - *time <= WINDOW_MS
        });
        let most = usize::try_from(SEC_PER_SECOND).unwrap_or(1);
        let full = self.times.len().checked_sub(most).and_then(|index| self.times.get(index));
        if let Some(oldest) = full {
            return Some(oldest + WINDOW_MS + 1 - now);
        }
        self.times.push(now);
        None
    }
}

/// The file.
#[derive(Debug)]
pub(super) struct SharedWindow {
    path: PathBuf,
}

impl SharedWindow {
    pub(super) fn new(dir: &Path) -> Self {
        SharedWindow { path: dir.join(FILE) }
    }

    /// Takes a permit in the window of all processes.
    pub(super) async fn take(&self, now: Timestamp) -> Answer {
        let answer = self.change(move |state| state.take(now.0)).await;
        match answer {
            Ok(None) => Answer::Go,
            Ok(Some(ms)) => Answer::Wait(Duration::from_millis(u64::try_from(ms).unwrap_or(1).max(1))),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Answer::Wait(BUSY),
            Err(error) => {
                tracing::warn!(kind = ?error.kind(), "the shared window of the SEC cannot be used");
                Answer::Unusable
            }
        }
    }

    /// Pauses all processes.
    pub(super) async fn pause(&self, now: Timestamp, wait: Duration) {
        let until = now.0.saturating_add(i64::try_from(wait.as_millis()).unwrap_or(PAUSE_MAX_MS));
        for _ in 0..TRIES {
            match self.change(move |state| state.paused_until = state.paused_until.max(until)).await {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => tokio::time::sleep(BUSY).await,
                Err(error) => {
                    return tracing::warn!(kind = ?error.kind(), "a pause of the SEC cannot be shared");
                }
                Ok(()) => return,
            }
        }
    }

    async fn change<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut State) -> T + Send + 'static,
    ) -> io::Result<T> {
        let path = self.path.clone();
        tokio::task::spawn_blocking(move || change(&path, act)).await.map_err(io::Error::other)?
    }
}

/// Changes the file under its lock; `WouldBlock` if another process holds it.
fn change<T>(path: &Path, act: impl FnOnce(&mut State) -> T) -> io::Result<T> {
    if let Some(dir) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    let file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => io::ErrorKind::WouldBlock.into(),
        TryLockError::Error(error) => error,
    })?;
    let mut state = read(&file);
    let answer = act(&mut state);
    let bytes = serde_json::to_vec(&state)?;
    (&file).rewind()?;
    (&file).write_all(&bytes)?;
    file.set_len(bytes.len() as u64)?;
    Ok(answer)
}

/// A file that is new or damaged counts as empty.
fn read(file: &File) -> State {
    let mut text = String::new();
    let read = file.take(FILE_BYTES_MAX).read_to_string(&mut text);
    read.ok().and_then(|_| serde_json::from_str(&text).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    #[tokio::test]
    async fn two_processes_share_one_window_and_one_pause() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (SharedWindow::new(dir.path()), SharedWindow::new(dir.path()));
        for index in 0..8 {
            let window = if index % 2 == 0 { &one } else { &two };
            assert_eq!(window.take(Timestamp(NOW.0 + index)).await, Answer::Go, "{index}");
        }
        let later = |ms| Timestamp(NOW.0 + ms);
        assert_eq!(two.take(later(500)).await, Answer::Wait(Duration::from_millis(501)));
        assert_eq!(one.take(later(1_000)).await, Answer::Wait(Duration::from_millis(1)));
        assert_eq!(one.take(later(1_001)).await, Answer::Go);
        one.pause(later(2_000), Duration::from_secs(600)).await;
        assert_eq!(two.take(later(2_001)).await, Answer::Wait(Duration::from_millis(599_999)));
        assert_eq!(two.take(later(602_000)).await, Answer::Go);
    }

    #[tokio::test]
    async fn a_damaged_file_and_a_clock_that_stepped_back_do_not_stop_anything_for_long() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(FILE), "{").unwrap();
        let window = SharedWindow::new(dir.path());
        for _ in 0..8 {
            assert_eq!(window.take(Timestamp(NOW.0 + 9_000_000)).await, Answer::Go);
        }
        assert_eq!(window.take(NOW).await, Answer::Wait(Duration::from_millis(1_001)));
        assert_eq!(window.take(Timestamp(NOW.0 + 1_001)).await, Answer::Go);
    }

    #[tokio::test]
    async fn a_held_lock_is_waited_for_and_an_unusable_place_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let window = SharedWindow::new(dir.path());
        let file = File::create(dir.path().join(FILE)).unwrap();
        file.lock().unwrap();
        assert_eq!(window.take(NOW).await, Answer::Wait(BUSY));
        file.unlock().unwrap();
        assert_eq!(window.take(NOW).await, Answer::Go);
        let nowhere = SharedWindow::new(&dir.path().join(FILE).join("below"));
        assert_eq!(nowhere.take(NOW).await, Answer::Unusable);
    }
}
