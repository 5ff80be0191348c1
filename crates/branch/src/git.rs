//! git as an argument vector: a time limit, a closed environment, no hooks, no prompts.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use loom_domain::{Code, Error, Result};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

/// Longest run of one command.
pub const GIT_LIMIT: Duration = Duration::from_secs(60);
/// Largest output that is taken.
const OUTPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Longest sentence of git that is passed on.
const SAID_CHARS_MAX: usize = 300;
/// Settings that win over those of the repository.
const SETTINGS: [&str; 8] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.autocrlf=false",
    "core.attributesFile=/dev/null",
    "commit.gpgSign=false",
    "submodule.recurse=false",
    "protocol.ext.allow=never",
    "gc.auto=0",
];
/// Variables that are passed on.
const VARIABLES: [&str; 3] = ["PATH", "SSH_AUTH_SOCK", "TMPDIR"];

/// Runs git in one repository.
#[derive(Debug, Clone)]
pub struct Git {
    program: PathBuf,
    repo: PathBuf,
    variables: Vec<(String, String)>,
    limit: Duration,
}

impl Git {
    /// Names the repository. `variables` is the environment, of which only a few pass.
    pub fn new(repo: &Path, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let variables =
            variables.into_iter().filter(|(name, _)| VARIABLES.contains(&name.as_str())).collect();
        Git { program: PathBuf::from("git"), repo: repo.to_owned(), variables, limit: GIT_LIMIT }
    }

    /// Sets another program and limit.
    pub fn with(mut self, program: &Path, limit: Duration) -> Self {
        (self.program, self.limit) = (program.to_owned(), limit);
        self
    }

    /// Adds a variable, such as that of a private index.
    pub(crate) fn variable(mut self, name: &str, value: &Path) -> Self {
        self.variables.push((name.to_owned(), value.to_string_lossy().into_owned()));
        self
    }

    /// Uses the key in this file over SSH, and no other: neither an agent's nor those of the user.
    pub fn ssh_key(mut self, file: &Path) -> Self {
        let file = file.to_string_lossy().replace('\'', "'\\''");
        let ssh = format!("ssh -i '{file}' -o IdentitiesOnly=yes -o IdentityAgent=none -o BatchMode=yes");
        self.variables.retain(|(name, _)| name != "SSH_AUTH_SOCK");
        self.variables.push(("GIT_SSH_COMMAND".to_owned(), ssh));
        self
    }

    /// Runs a command; gives what it printed, without the last line end.
    pub(crate) async fn text(&self, words: &[&str]) -> Result<String> {
        let bytes = self.run(words, Vec::new()).await?;
        let text = String::from_utf8(bytes).map_err(|_| failed("git printed what is not text"))?;
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// Whether a command ends well; it may end badly without being a fault.
    pub(crate) async fn holds(&self, words: &[&str]) -> Result<bool> {
        let output = self.output(words, Vec::new()).await?;
        Ok(output.status.success())
    }

    /// Runs a command with bytes on its standard input.
    pub(crate) async fn run(&self, words: &[&str], input: Vec<u8>) -> Result<Vec<u8>> {
        let output = self.output(words, input).await?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(self.complaint(words.first().copied().unwrap_or_default(), &output.stderr))
    }

    /// The last sentence of a command that failed.
    pub(crate) fn complaint(&self, verb: &str, stderr: &[u8]) -> Error {
        let said = self.relative(&String::from_utf8_lossy(stderr));
        let said = said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it said nothing");
        let said: String = said.chars().take(SAID_CHARS_MAX).collect();
        failed(format!("git {verb}: {said}"))
    }

    /// Runs a command, however it ends.
    pub(crate) async fn output(&self, words: &[&str], input: Vec<u8>) -> Result<Output> {
        let mut command = Command::new(&self.program);
        command.arg("-C").arg(&self.repo).args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        command.args(words).env_clear().envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.envs([
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ASKPASS", "/bin/false"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_AUTHOR_NAME", "Loom"),
            ("GIT_AUTHOR_EMAIL", "loom@localhost"),
            ("GIT_COMMITTER_NAME", "Loom"),
            ("GIT_COMMITTER_EMAIL", "loom@localhost"),
            ("LC_ALL", "C"),
        ]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let verb = words.first().copied().unwrap_or_default();
        let mut child =
            command.spawn().map_err(|cause| failed(format!("git cannot be started: {}", cause.kind())))?;
        let ended = tokio::time::timeout(self.limit, talk(&mut child, input)).await;
        let output = ended
            .map_err(|_| failed(format!("git {verb} did not end within {} s", self.limit.as_secs().max(1))))?
            .map_err(|cause| failed(format!("git {verb}: {}", cause.kind())))?;
        if u64::try_from(output.stdout.len()).unwrap_or(u64::MAX) > OUTPUT_BYTES_MAX {
            return Err(failed(format!("git {verb} printed too much")));
        }
        Ok(output)
    }

    /// A text without the place of the repository.
    fn relative(&self, text: &str) -> String {
        text.replace(&*self.repo.to_string_lossy(), ".")
    }
}

/// Feeds a process and takes what it prints, up to a byte more than the limit; then nobody listens any longer.
async fn talk(child: &mut Child, input: Vec<u8>) -> std::io::Result<Output> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let feed = async move {
        if let Some(mut stdin) = stdin {
            // A command that reads nothing may be gone already.
            let _ = stdin.write_all(&input).await;
        }
    };
    let ((), stdout, stderr) = tokio::join!(feed, bounded(stdout), bounded(stderr));
    Ok(Output { stdout: stdout?, stderr: stderr?, status: child.wait().await? })
}

async fn bounded(pipe: Option<impl AsyncRead + Unpin>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(OUTPUT_BYTES_MAX + 1).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

pub(crate) fn failed(message: impl Into<String>) -> Error {
    Error::new(Code::GitFailed, message)
}
