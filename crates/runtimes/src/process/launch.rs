//! Starts a child in its own session and process group, and stops the group.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::{Child, Command};

use crate::{ErrClass, RuntimeError};

/// Where the tool that makes a session of its own may be.
const SETSID: [&str; 2] = ["/usr/bin/setsid", "/bin/setsid"];

/// Starts `argv` with exactly this environment; stdin, stdout and stderr are piped.
pub(crate) fn spawn(
    argv: &[String],
    env: &BTreeMap<String, String>,
    cwd: &Path,
) -> Result<Child, RuntimeError> {
    let (program, arguments) = argv.split_first().ok_or_else(|| fault("no program is configured"))?;
    let path = env.get("PATH").map(String::as_str).unwrap_or_default();
    let program =
        find(program, path).ok_or_else(|| fault(&format!("there is no program {program} to run")))?;
    let mut command = if let Some(tool) = SETSID.iter().find(|tool| Path::new(tool).exists()) {
        // It is not a group leader here, so it makes the session and becomes the program under the same id.
        let mut command = Command::new(tool);
        command.arg(program);
        command
    } else {
        let mut command = Command::new(program);
        command.process_group(0);
        command
    };
    command.args(arguments).env_clear().envs(env).current_dir(cwd);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command.spawn().map_err(|error| fault(&format!("the program did not start: {error}")))
}

fn fault(message: &str) -> RuntimeError {
    RuntimeError::new(ErrClass::Spawn, message).retryable(false)
}

/// The program as a file: as it is when it names a folder, else looked up in the given PATH.
pub(crate) fn find(program: &str, path: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|file| is_executable(file));
    }
    path.split(':')
        .filter(|folder| !folder.is_empty())
        .map(|folder| Path::new(folder).join(program))
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Signals the group of a child of ours. Unless the force is `Sweep` the child has not been reaped.
pub(crate) fn stop_group(child_id: u32, force: Force) {
    let Some(pid) = i32::try_from(child_id).ok().and_then(Pid::from_raw) else { return };
    let signal = match force {
        Force::Ask => Signal::TERM,
        Force::Kill | Force::Sweep => Signal::KILL,
    };
    if kill_process_group(pid, signal).is_err() && force != Force::Sweep {
        // The child has not made its group yet.
        let _ = kill_process(pid, signal);
    }
}

/// How a group is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Force {
    /// SIGTERM.
    Ask,
    /// SIGKILL.
    Kill,
    /// SIGKILL to what an ended child left behind in its group.
    Sweep,
}

/// Makes a directory for the owner alone, with its parents.
pub(crate) fn make_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
