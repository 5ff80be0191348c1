//! Looks for the program of a host: an absolute path by PATH, then `BINARY --version`; nothing else is started.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde::Serialize;
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};

/// Longest run of `BINARY --version`.
const VERSION_WAIT: Duration = Duration::from_secs(2);
/// Most bytes of its output that are read.
const VERSION_BYTES_MAX: u64 = 4 * 1024;
/// Most folders of PATH that are looked in.
const FOLDERS_MAX: usize = 256;
/// Longest version that is shown, in characters.
const VERSION_CHARS_MAX: usize = 40;
/// What the program is given for a home: it has none, so that it reads and writes nothing of its user.
const NO_HOME: &str = "/nonexistent";

/// Whether programs are looked for, and in which folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// In the folders of this PATH.
    Path(String),
    /// Not at all.
    No,
}

/// How a version compares with the one that was tested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VersionStatus {
    /// The same.
    Tested,
    /// Newer.
    Newer,
    /// Older.
    Older,
    /// It is not known.
    #[default]
    Unknown,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Detection {
    /// Where the program is.
    pub path: Option<PathBuf>,
    /// The version it names.
    pub version: Option<String>,
}

impl Detection {
    /// Looks for a program by its name or absolute path, and asks it for its version.
    pub async fn of(program: &str, path: &str) -> Self {
        let Some(found) = find(program, path) else { return Detection::default() };
        let version = version_of(&found, path).await;
        Detection { path: Some(found), version }
    }
}

/// An executable file of that name in an absolute folder of PATH, or the absolute path itself.
fn find(program: &str, path: &str) -> Option<PathBuf> {
    let asked = Path::new(program);
    if asked.is_absolute() {
        return is_executable(asked).then(|| asked.to_owned());
    }
    // A relative path would depend on where the command was typed.
    if program.is_empty() || asked.file_name() != Some(OsStr::new(program)) {
        return None;
    }
    let folders = std::env::split_paths(path).take(FOLDERS_MAX).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(program)).find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

async fn version_of(program: &Path, path: &str) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").env_clear().current_dir("/");
    command.env("PATH", path).env("HOME", NO_HOME).env("LANG", "C.UTF-8").env("LC_ALL", "C.UTF-8");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.process_group(0).kill_on_drop(true);
    let mut child = command.spawn().ok()?;
    let mut said = Vec::new();
    if let Some(out) = child.stdout.take() {
        let read = out.take(VERSION_BYTES_MAX);
        let mut read = Box::pin(read);
        // What came before the time was up counts for nothing: a program that hangs is not one that answers.
        if tokio::time::timeout(VERSION_WAIT, read.read_to_end(&mut said)).await.is_err() {
            said.clear();
        }
    }
    end(child).await;
    parsed(&String::from_utf8_lossy(&said))
}

/// Ends the program and whatever it started.
async fn end(mut child: Child) {
    // The child is not waited for yet, so its id and its group are still its own.
    if let Some(id) = child.id().and_then(|id| i32::try_from(id).ok()) {
        let _ = killpg(Pid::from_raw(id), Signal::SIGKILL);
    }
    drop(child.wait().await);
}

/// The first word that looks like a version.
fn parsed(said: &str) -> Option<String> {
    let mut words = said.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | '/' | '@'));
    words.find_map(|word| {
        let word = word.strip_prefix('v').unwrap_or(word);
        let is_version = word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit());
        let is_plain = word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'+'));
        (is_version && is_plain && word.len() <= VERSION_CHARS_MAX).then(|| word.to_owned())
    })
}

/// Compares a version with the tested one by its numbers.
pub(super) fn compared(version: Option<&str>, tested: Option<&str>) -> VersionStatus {
    let (Some(version), Some(tested)) = (version, tested) else { return VersionStatus::Unknown };
    match numbers(version).cmp(&numbers(tested)) {
        Ordering::Equal => VersionStatus::Tested,
        Ordering::Greater => VersionStatus::Newer,
        Ordering::Less => VersionStatus::Older,
    }
}

fn numbers(version: &str) -> Vec<u64> {
    let core = version.split(['-', '+']).next().unwrap_or_default();
    core.split('.').map(|number| number.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_first_word_that_looks_like_one() {
        for (said, version) in [
            ("codex-cli 0.171.0\n", Some("0.171.0")),
            ("2.1.332 (Claude Code)", Some("2.1.332")),
            ("opencode v1.18.33-beta.1", Some("1.18.33-beta.1")),
            ("tool/3.4", Some("3.4")),
            ("no version here", None),
            ("1.$(x)", None),
        ] {
            assert_eq!(parsed(said).as_deref(), version, "{said}");
        }
    }

    #[test]
    fn versions_compare_by_their_numbers() {
        assert_eq!(compared(Some("1.18.33"), Some("1.18.33")), VersionStatus::Tested);
        assert_eq!(compared(Some("1.18.100"), Some("1.18.33")), VersionStatus::Newer);
        assert_eq!(compared(Some("1.9.40"), Some("1.18.33")), VersionStatus::Older);
        assert_eq!(compared(Some("1.0"), None), VersionStatus::Unknown);
    }

    #[test]
    fn only_absolute_folders_are_looked_in() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tool");
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        assert_eq!(find("tool", &folder.path().display().to_string()), None);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find("tool", &format!(".:{}", folder.path().display())), Some(file.clone()));
        assert_eq!(find(&file.display().to_string(), ""), Some(file));
        assert_eq!(find("./tool", &folder.path().display().to_string()), None);
    }
}
