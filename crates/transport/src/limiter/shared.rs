//! The SEC's window in a locked file, so that all processes of one data root together keep to it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::clock::Clock;
use crate::scope::SEC_PER_SECOND;

const FILE: &str = "rate-sec.json";
const WINDOW_MS: i64 = 1_000;
/// A slot of a process that ended without giving it back is free after this.
const OPEN_MS: i64 = 30_000;
/// Wait for a slot whose request is on its way.
const OPEN_POLL_MS: i64 = 10;
/// Longest pause that is believed.
const PAUSE_MAX_MS: i64 = 24 * 3_600_000;
/// Largest file that is read.
const FILE_BYTES_MAX: u64 = 4_096;
/// Wait for a process that holds the lock.
const BUSY: Duration = Duration::from_millis(2);
/// Times that a change which must not be lost is tried.
const TRIES: u32 = 200;

/// What the window says.
#[derive(Debug)]
pub(super) enum Answer {
    /// A slot was taken.
    Go(Slot),
    /// Not yet.
    Wait(Duration),
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct State {
    slots: Vec<Taken>,
    /// Nobody passes before.
    paused_until: i64,
}

/// A slot that is taken: while its request is on its way, and for one window after its answer. So no more requests
/// arrive within a window than there are slots, however long each of them took to get there.
#[derive(Debug, Serialize, Deserialize)]
struct Taken {
    id: String,
    is_open: bool,
    /// Wall-clock milliseconds.
    free_at: i64,
}

impl State {
    /// Takes a slot, or tells the milliseconds to wait. Times beyond what can be, after a step of the clock, are cut.
    fn take(&mut self, id: &str, now: i64) -> Option<i64> {
        let pause = self.paused_until.min(now.saturating_add(PAUSE_MAX_MS)).saturating_sub(now);
        if pause > 0 {
            return Some(pause);
        }
        self.slots.retain_mut(|slot| {
            let longest = if slot.is_open { OPEN_MS } else { WINDOW_MS + 1 };
            slot.free_at = slot.free_at.min(now.saturating_add(longest));
            slot.free_at > now
        });
        if self.slots.len() < usize::try_from(SEC_PER_SECOND).unwrap_or(1) {
            self.slots.push(Taken { id: id.to_owned(), is_open: true, free_at: now.saturating_add(OPEN_MS) });
            return None;
        }
        let wait = |slot: &Taken| if slot.is_open { OPEN_POLL_MS } else { slot.free_at - now };
        Some(self.slots.iter().map(wait).min().unwrap_or(OPEN_POLL_MS))
    }

    fn give_back(&mut self, id: &str, now: i64) {
        if let Some(slot) = self.slots.iter_mut().find(|slot| slot.id == id) {
            slot.is_open = false;
            slot.free_at = now.saturating_add(WINDOW_MS + 1);
        }
    }
}

/// Where the window is: in a file that processes share, or in memory where there is none.
#[derive(Debug, Clone)]
struct Place {
    path: Option<PathBuf>,
    memory: Arc<Mutex<State>>,
    /// Slots whose answers have come, with the time of the answer; the next change of the state takes them in.
    back: Arc<Mutex<Vec<(String, i64)>>>,
    /// Within this process nobody finds the file locked.
    turn: Arc<Mutex<()>>,
}

/// The window.
#[derive(Debug, Clone)]
pub(super) struct SharedWindow {
    place: Place,
    clock: Arc<dyn Clock>,
    /// Tells slots of this process from those of others.
    name: u64,
    taken: Arc<AtomicU64>,
    /// Changes of the file that tell other processes of slots that came back.
    telling: Arc<Mutex<JoinSet<()>>>,
}

/// A slot; its window runs from the moment it is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    window: SharedWindow,
    id: String,
}

impl Drop for Slot {
    /// Only notes it: whoever drops a slot may be a task that must not wait for a file.
    fn drop(&mut self) {
        let (window, now) = (&self.window, self.window.clock.now().0);
        locked(&window.place.back).push((std::mem::take(&mut self.id), now));
        let place = window.place.clone();
        match Handle::try_current() {
            Ok(runtime) => {
                let mut telling = locked(&window.telling);
                while telling.try_join_next().is_some() {}
                telling.spawn_blocking_on(move || place.tell(), &runtime);
            }
            Err(_) => place.tell(),
        }
    }
}

fn locked<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn told(error: &io::Error) {
    tracing::warn!(kind = ?error.kind(), "the shared window of the SEC cannot be used");
}

impl SharedWindow {
    /// The window of the processes that use the directory, or of this process alone.
    pub(super) fn new(dir: Option<&Path>, clock: Arc<dyn Clock>) -> Self {
        let name = getrandom::u64().unwrap_or_else(|_| u64::from(std::process::id()));
        let path = dir.map(|dir| dir.join(FILE));
        SharedWindow {
            place: Place { path, memory: Arc::default(), back: Arc::default(), turn: Arc::default() },
            clock,
            name,
            taken: Arc::default(),
            telling: Arc::default(),
        }
    }

    /// Takes a slot.
    pub(super) async fn take(&self) -> Answer {
        let id = format!("{:016x}-{}", self.name, self.taken.fetch_add(1, Ordering::Relaxed));
        let (now, known) = (self.clock.now().0, id.clone());
        match self.change(move |state| state.take(&known, now)).await {
            Ok(None) => Answer::Go(Slot { window: self.clone(), id }),
            Ok(Some(ms)) => Answer::Wait(Duration::from_millis(u64::try_from(ms).unwrap_or(1).max(1))),
            Err(_) => Answer::Wait(BUSY),
        }
    }

    /// Pauses the other processes; the lane of this one keeps its own pause.
    pub(super) async fn pause(&self, wait: Duration) {
        if self.place.path.is_none() {
            return;
        }
        let until =
            self.clock.now().0.saturating_add(i64::try_from(wait.as_millis()).unwrap_or(PAUSE_MAX_MS));
        for _ in 0..TRIES {
            match self.change(move |state| state.paused_until = state.paused_until.max(until)).await {
                Err(_) => tokio::time::sleep(BUSY).await,
                Ok(()) => return,
            }
        }
    }

    async fn change<T: Send + 'static>(
        &self,
        act: impl FnMut(&mut State) -> T + Send + 'static,
    ) -> io::Result<T> {
        let place = self.place.clone();
        tokio::task::spawn_blocking(move || place.change(act)).await.map_err(io::Error::other)?
    }
}

impl Place {
    /// Takes in what came back, so that others may use it; waits for a process that holds the lock.
    fn tell(&self) {
        for _ in 0..TRIES {
            if locked(&self.back).is_empty() || self.change(|_| ()).is_ok() {
                return;
            }
            std::thread::sleep(BUSY);
        }
    }

    /// Changes the state. Where the file cannot be used, the window of this process alone counts.
    fn change<T>(&self, mut act: impl FnMut(&mut State) -> T) -> io::Result<T> {
        let _turn = locked(&self.turn);
        let mut took = 0;
        let mut act = |state: &mut State| {
            let back = locked(&self.back);
            back.iter().for_each(|(id, at)| state.give_back(id, *at));
            took = back.len();
            drop(back);
            act(state)
        };
        let answer = match self.path.as_deref().map(|path| change(path, &mut act)) {
            None => Ok(act(&mut locked(&self.memory))),
            Some(Err(error)) if error.kind() != io::ErrorKind::WouldBlock => {
                told(&error);
                Ok(act(&mut locked(&self.memory)))
            }
            Some(answer) => answer,
        };
        if answer.is_ok() {
            let mut back = locked(&self.back);
            let took = took.min(back.len());
            back.drain(..took);
        }
        answer
    }
}

/// Changes the file under its lock; `WouldBlock` if another process holds it.
fn change<T>(path: &Path, act: &mut impl FnMut(&mut State) -> T) -> io::Result<T> {
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
    use std::sync::atomic::AtomicI64;

    use loom_domain::Timestamp;

    use super::*;

    #[derive(Debug, Default)]
    struct Hands(AtomicI64);

    impl Clock for Hands {
        fn now(&self) -> Timestamp {
            Timestamp(1_800_000_000_000 + self.0.load(Ordering::Relaxed))
        }
    }

    impl Hands {
        fn set(&self, ms: i64) {
            self.0.store(ms, Ordering::Relaxed);
        }
    }

    /// Waits until what came back is told to the others.
    async fn told_all(window: &SharedWindow) {
        let mut telling = std::mem::take(&mut *locked(&window.telling));
        while let Some(told) = telling.join_next().await {
            told.unwrap();
        }
        assert!(locked(&window.place.back).is_empty());
    }

    async fn go(window: &SharedWindow) -> Slot {
        match window.take().await {
            Answer::Go(slot) => slot,
            Answer::Wait(wait) => panic!("to wait {wait:?}"),
        }
    }

    async fn wait(window: &SharedWindow) -> u128 {
        match window.take().await {
            Answer::Go(_) => 0,
            Answer::Wait(wait) => wait.as_millis(),
        }
    }

    /// CAP-098: a slot counts from its grant to one window after its answer, in every process.
    #[tokio::test]
    async fn cap_098_two_processes_share_one_window_and_one_pause() {
        let (dir, clock) = (tempfile::tempdir().unwrap(), Arc::new(Hands::default()));
        let [one, two] = [(); 2].map(|()| SharedWindow::new(Some(dir.path()), clock.clone()));
        let mut slots = Vec::new();
        for index in 0..8 {
            slots.push(go(if index % 2 == 0 { &one } else { &two }).await);
        }
        clock.set(5_000);
        assert_eq!((wait(&one).await, wait(&two).await), (10, 10), "all are on their way");
        slots.pop();
        assert_eq!(wait(&two).await, 10);
        drop(slots);
        told_all(&one).await;
        told_all(&two).await;
        clock.set(5_400);
        assert_eq!(wait(&one).await, 601);
        clock.set(6_001);
        drop(go(&two).await);
        one.pause(Duration::from_secs(600)).await;
        assert_eq!(wait(&two).await, 600_000);
        clock.set(606_001);
        go(&two).await;
    }

    #[tokio::test]
    async fn a_damaged_file_a_dead_process_and_a_clock_that_stepped_back_stop_nothing_for_long() {
        let (dir, clock) = (tempfile::tempdir().unwrap(), Arc::new(Hands::default()));
        fs::write(dir.path().join(FILE), "{").unwrap();
        let window = SharedWindow::new(Some(dir.path()), clock.clone());
        clock.set(9_000_000);
        let taken = (go(&window).await, go(&window).await, go(&window).await);
        for _ in 0..5 {
            std::mem::forget(go(&window).await);
        }
        drop(taken);
        clock.set(0);
        assert_eq!(wait(&window).await, 10);
        clock.set(1_002);
        drop((go(&window).await, go(&window).await, go(&window).await));
        clock.set(OPEN_MS + 1);
        for _ in 0..8 {
            go(&window).await;
        }
    }

    /// CAP-098: whoever drops a slot waits for no other process; that it came back is told when the file is free.
    #[tokio::test]
    async fn cap_098_a_slot_is_given_back_without_waiting_for_the_file() {
        let (dir, clock) = (tempfile::tempdir().unwrap(), Arc::new(Hands::default()));
        let [one, two] = [(); 2].map(|()| SharedWindow::new(Some(dir.path()), clock.clone()));
        let slot = go(&one).await;
        let file = File::open(dir.path().join(FILE)).unwrap();
        file.lock().unwrap();
        let began = std::time::Instant::now();
        drop(slot);
        assert!(began.elapsed() < BUSY * (TRIES / 4), "{:?}", began.elapsed());
        file.unlock().unwrap();
        told_all(&one).await;
        clock.set(1_002);
        for _ in 0..8 {
            go(&two).await;
        }
    }

    #[tokio::test]
    async fn a_held_lock_is_waited_for_and_an_unusable_place_leaves_the_window_of_the_process() {
        let (dir, clock) = (tempfile::tempdir().unwrap(), Arc::new(Hands::default()));
        let window = SharedWindow::new(Some(dir.path()), clock.clone());
        let file = File::create(dir.path().join(FILE)).unwrap();
        file.lock().unwrap();
        assert_eq!(wait(&window).await, BUSY.as_millis());
        file.unlock().unwrap();
        go(&window).await;
        let nowhere = SharedWindow::new(Some(&dir.path().join(FILE).join("below")), clock);
        for _ in 0..8 {
            go(&nowhere).await;
        }
        assert_eq!(wait(&nowhere).await, 1_001);
    }
}
