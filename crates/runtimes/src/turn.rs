//! A Turn: what goes in, what is seen while it runs, how it ends.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use loom_domain::TurnId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::RuntimeError;

/// Key of a Turn at the runtime: the Turn's own id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TurnKey(pub TurnId);

/// The runtime's own id of a Turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NativeTurn(pub String);

/// A stored file that is handed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactRef {
    /// Where the bytes are.
    pub path: PathBuf,
    /// Name to show.
    pub name: String,
    /// Media type.
    pub mime: String,
    /// Digest, hex.
    pub sha256: String,
}

/// One piece of input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Text; the first one is the envelope.
    Text(String),
    /// A picture.
    Image(ArtifactRef),
    /// Another file.
    File(ArtifactRef),
}

/// A Turn to start.
#[derive(Debug, Clone)]
pub struct TurnRequest {
    /// Key.
    pub key: TurnKey,
    /// Input in order.
    pub input: Vec<Input>,
    /// `item`, `membership` and `message` for runtimes that take `loom_turn_input_v1`; else null.
    pub facts: Value,
    /// The Turn is interrupted at this moment.
    pub deadline: Instant,
    /// The Turn is interrupted after this long without an event (waiting for a permission does not count).
    pub idle_limit: Duration,
}

/// State of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolState {
    /// Started.
    Started,
    /// Ended well.
    Completed,
    /// Ended badly or was refused.
    Failed,
}

/// Id of a permission request, unique in its session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PermissionId(pub String);

/// A question of the runtime that only the owner may answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRequest {
    /// Id for [`crate::AgentSession::answer`].
    pub id: PermissionId,
    /// Kind in the runtime's own words.
    pub kind: String,
    /// The full text to show; the approval is bound to its digest.
    pub text: String,
}

/// The owner's answer. There is no "always".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// This once.
    AllowOnce,
    /// No; the Turn goes on.
    Deny,
    /// No; the Turn ends.
    Cancel,
}

/// What is seen while a Turn runs. Status only: none of it leaves Loom as an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEvent {
    /// The runtime took the input; the first event of every Turn that starts.
    Accepted(NativeTurn),
    /// Text of an item.
    Text {
        /// Item.
        item: String,
        /// Added text.
        delta: String,
    },
    /// A tool call.
    Tool {
        /// Id.
        id: String,
        /// Name or command.
        name: String,
        /// State.
        state: ToolState,
    },
    /// A question.
    Permission(PermissionRequest),
    /// The runtime repeats a model call.
    Retrying {
        /// Which repeat.
        attempt: u32,
        /// Wait before it, when known.
        after: Duration,
        /// Why, redacted.
        reason: String,
    },
    /// Something the owner may want to know.
    Notice(String),
    /// Usage of this Turn so far.
    Usage(Usage),
    /// A sign of life.
    Alive,
}

/// Tokens used by one Turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// Input tokens, cached ones included.
    pub input_tokens: u64,
    /// Of those, cached.
    pub cached_input_tokens: u64,
    /// Output tokens, reasoning included.
    pub output_tokens: u64,
    /// Of those, reasoning.
    pub reasoning_output_tokens: u64,
}

/// Where an answer came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerSource {
    /// The runtime named it as the result.
    Declared,
    /// The last message of the final phase.
    FinalPhase,
    /// The last message.
    LastMessage,
    /// Standard output.
    Stdout,
}

/// A file the Agent hands out: a regular file below the Turn's `out` directory, open since it was checked.
#[derive(Debug, Clone)]
pub struct OutFile {
    /// Its name.
    pub name: String,
    /// Its size in bytes when it was checked.
    pub bytes: u64,
    bytes_max: u64,
    file: Arc<File>,
}

impl OutFile {
    /// Takes an open file of at most `bytes_max` bytes.
    pub(crate) fn new(file: File, name: String, bytes_max: u64) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        if bytes > bytes_max {
            return Err(over(bytes_max));
        }
        Ok(OutFile { name, bytes, bytes_max, file: Arc::new(file) })
    }

    /// The bytes of the file that was checked, whatever is at its place by now. It blocks.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        let mut file = self.file.as_ref();
        file.rewind()?;
        let mut bytes = Vec::new();
        let read = file.take(self.bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
        if u64::try_from(read).unwrap_or(u64::MAX) > self.bytes_max {
            return Err(over(self.bytes_max));
        }
        Ok(bytes)
    }
}

impl PartialEq for OutFile {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.file, &other.file)
    }
}

impl Eq for OutFile {}

fn over(bytes_max: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it has over {bytes_max} bytes"))
}

/// The final answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Text, possibly empty.
    pub text: String,
    /// Where it came from.
    pub source: AnswerSource,
    /// Files that go with it.
    pub files: Vec<OutFile>,
}

/// Something the runtime was not allowed to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// What it wanted.
    pub what: String,
}

/// How a Turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    /// By itself, well.
    Completed,
    /// It was stopped.
    Interrupted,
    /// It failed.
    Failed,
    /// The runtime went away in the middle; ask `reconcile`.
    Lost,
}

/// The end of a Turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnOutcome {
    /// How it ended.
    pub status: TurnStatus,
    /// The answer; none unless completed.
    pub answer: Option<Answer>,
    /// The Agent's reason not to answer (command and http).
    pub no_reply: Option<String>,
    /// A thread id the runtime named at the end; the host stores it in the Binding.
    pub thread: Option<String>,
    /// What was not allowed.
    pub denials: Vec<Denial>,
    /// Usage of this Turn.
    pub usage: Option<Usage>,
    /// Why it did not complete.
    pub error: Option<RuntimeError>,
    /// End of the program's own diagnostics, redacted; for the owner only.
    pub stderr_tail: Option<String>,
}

impl TurnOutcome {
    /// An outcome with a status and nothing else.
    pub fn of(status: TurnStatus) -> Self {
        TurnOutcome {
            status,
            answer: None,
            no_reply: None,
            thread: None,
            denials: Vec::new(),
            usage: None,
            error: None,
            stderr_tail: None,
        }
    }

    /// An outcome that carries an error.
    pub fn failed(status: TurnStatus, error: RuntimeError) -> Self {
        TurnOutcome { error: Some(error), ..TurnOutcome::of(status) }
    }
}

/// A started Turn.
#[derive(Debug)]
pub struct TurnHandle {
    /// The runtime's id, when it is known at the start.
    pub native: Option<NativeTurn>,
    /// Comes exactly once. A dropped sender means `Lost`.
    pub outcome: oneshot::Receiver<TurnOutcome>,
}

/// What became of a Turn.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "one verdict exists at a time; the outcome is moved out of it at once"
)]
pub enum TurnFate {
    /// The runtime never took it; it may be queued again.
    NeverAccepted,
    /// It runs; ask again until it does not.
    Running(NativeTurn),
    /// It ended, and this is how.
    Done(TurnOutcome),
    /// It was cut off; it may have acted.
    Interrupted {
        /// Whether something it did is recorded.
        partial: bool,
    },
    /// Nobody can tell.
    Unknown,
}
