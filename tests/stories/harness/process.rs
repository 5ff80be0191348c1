//! The hub as a child process.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// Longest end of a hub that was told to stop.
const STOP_LIMIT: Duration = Duration::from_secs(60);

/// A running `loom up`; killed when dropped.
pub(crate) struct HubProcess {
    child: Child,
    log: PathBuf,
}

impl HubProcess {
    /// Starts it; both streams go to `log`.
    pub(crate) fn spawn(mut command: Command, log: &Path) -> Self {
        let file = File::create(log).unwrap();
        command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file).kill_on_drop(true);
        HubProcess { child: command.spawn().unwrap(), log: log.to_owned() }
    }

    /// Whether it has ended, and how: exit status, or minus the signal.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        self.child.try_wait().unwrap().map(status)
    }

    pub(crate) fn pid(&self) -> Option<Pid> {
        self.child.id().map(|id| Pid::from_raw(i32::try_from(id).unwrap()))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(pid) = self.pid() {
            kill(pid, signal).unwrap();
        }
    }

    /// Waits for its end.
    pub(crate) async fn wait(&mut self) -> i32 {
        let Ok(end) = timeout(STOP_LIMIT, self.child.wait()).await else {
            panic!("the hub did not end: {}", self.said());
        };
        status(end.unwrap())
    }

    /// What it wrote.
    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

fn status(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status.code().or_else(|| status.signal().map(|signal| -signal)).unwrap_or(i32::MIN)
}
