//! The durable record of a child, and whether the process of that id is still that child.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// Longest record in bytes.
const RECORD_BYTES_MAX: u64 = 4096;

/// What is written down about a child. Without `pid` the child was about to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChildRecord {
    /// Process id, which is also its group and session.
    pub(crate) pid: Option<u32>,
    /// Start time in clock ticks since boot.
    pub(crate) start_ticks: u64,
    /// Id of the boot in which it started.
    pub(crate) boot_id: String,
}

/// What a record says about the present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Liveness {
    /// The child lives.
    Alive,
    /// It is gone, or its id belongs to a stranger.
    Gone,
    /// The record was written before the child had an id.
    NeverKnown,
}

impl ChildRecord {
    /// A record of the intention to start a child.
    pub(crate) fn intention() -> Self {
        ChildRecord { pid: None, start_ticks: 0, boot_id: boot_id() }
    }

    /// The record of a running child of ours.
    pub(crate) fn of(pid: u32) -> Self {
        ChildRecord { pid: Some(pid), start_ticks: start_ticks(pid).unwrap_or(0), boot_id: boot_id() }
    }

    /// Writes the record so that it survives a power cut.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().ok_or_else(|| io::Error::other("a record needs a folder"))?;
        let fresh = path.with_extension("new");
        let mut file = File::create(&fresh)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        file.sync_all()?;
        fs::rename(&fresh, path)?;
        File::open(folder)?.sync_all()
    }

    /// Reads a record; `None` when there is none.
    pub(crate) fn read(path: &Path) -> io::Result<Option<Self>> {
        match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
            Ok(meta) if meta.len() > RECORD_BYTES_MAX => {
                return Err(io::Error::other("the child record is too long"));
            }
            Ok(_) => {}
        }
        Ok(Some(serde_json::from_slice(&fs::read(path)?)?))
    }

    /// Whether the recorded child lives.
    pub(crate) fn liveness(&self) -> Liveness {
        match self.pid {
            None => Liveness::NeverKnown,
            Some(pid) if self.boot_id == boot_id() && start_ticks(pid) == Some(self.start_ticks) => {
                Liveness::Alive
            }
            Some(_) => Liveness::Gone,
        }
    }

    /// Kills the recorded child and its group, if it is still that child. The process is pinned by a pidfd
    /// before its start time is compared, so a reused id is never signalled.
    pub(crate) fn kill(&self) -> Liveness {
        let raw = self.pid.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        let Some(pid) = raw else { return self.liveness() };
        let Ok(pinned) = pidfd_open(pid, PidfdFlags::empty()) else { return Liveness::Gone };
        if self.liveness() != Liveness::Alive {
            return Liveness::Gone;
        }
        // The group exists as long as its pinned leader has not been reaped.
        let _ = kill_process_group(pid, Signal::KILL);
        let _ = pidfd_send_signal(&pinned, Signal::KILL);
        Liveness::Alive
    }
}

fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// Start time of a process; `None` when there is no such process or it is a zombie.
fn start_ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the name in parentheses and may hold anything; fields count from the last one.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn atk_42_a_process_that_reused_the_id_is_not_signalled() {
        let mut stranger = Command::new("sleep").arg("60").spawn().unwrap();
        let mut record = ChildRecord::of(stranger.id());
        record.start_ticks -= 1;
        assert_eq!(record.kill(), Liveness::Gone);
        record.start_ticks += 1;
        record.boot_id = "another boot".into();
        assert_eq!(record.kill(), Liveness::Gone);
        assert!(stranger.try_wait().unwrap().is_none(), "the stranger must live");
        stranger.kill().unwrap();
        stranger.wait().unwrap();
    }

    #[test]
    fn atk_42_the_recorded_child_itself_is_killed_and_a_record_survives_a_write() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("child.json");
        assert_eq!(ChildRecord::read(&path).unwrap(), None);
        ChildRecord::intention().write(&path).unwrap();
        assert_eq!(ChildRecord::read(&path).unwrap().unwrap().liveness(), Liveness::NeverKnown);
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        ChildRecord::of(child.id()).write(&path).unwrap();
        let record = ChildRecord::read(&path).unwrap().unwrap();
        assert_eq!(record.kill(), Liveness::Alive);
        assert!(!child.wait().unwrap().success());
        assert_eq!(record.kill(), Liveness::Gone);
    }
}
