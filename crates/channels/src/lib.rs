//! Channels translate between a chat platform and Loom: in, out, and "did it arrive?".
//!
//! What it is not: it knows neither the store nor the hub, decides no policy, and opens no connection but
//! through `loom-transport`.
//!
//! Invariants
//! - A platform event is acknowledged only after [`Ingress::offer`] returned `Ok`.
//! - No visible byte leaves before [`Progress::step`] with `Publish` returned `Ok`.
//! - A send whose outcome is not known is reported as unknown, never repeated.

mod breaker;
pub mod feishu;
mod outcome;
mod sending;
mod session;
pub mod slack;
mod types;

pub use outcome::{Fault, FaultClass, SendOutcome, SentIds, Settlement};
pub use session::{Ingress, IngressFault, Judged, Monitor, Progress, Session, SessionEnd};
pub use types::{
    CandidateInfo, CheckTarget, FetchedFile, HistoryMessage, HistoryPage, HistoryQuery, Identity, Mark,
    OutFile, Pacing, SendPart, SettlePart,
};

use async_trait::async_trait;
use loom_domain::TextFormat;

/// One Connection's platform, in both directions. Built per Connection; cheap to share.
#[async_trait]
pub trait Channel: Send + Sync {
    /// Provider word, such as `slack`.
    fn provider(&self) -> &'static str;

    /// Paces of sends: per conversation and per Connection.
    fn pacing(&self) -> Pacing;

    /// Whether messages of the platform come in through this channel. One that only sends is given nothing to catch
    /// up with: reading a history would let in what nobody asked for.
    fn receives(&self) -> bool {
        true
    }

    /// Splits a text into the chunks that will be sent, each within the platform's own limit after translation.
    /// Fails with `text_too_long` above `chunks_max` chunks.
    fn split(
        &self,
        text: &str,
        format: TextFormat,
        chunks_max: usize,
    ) -> Result<Vec<String>, loom_domain::Error>;

    /// Checks a file against the platform's own limits before anything is stored. `file_refused` names limit and size.
    fn check_file(&self, name: &str, mime_type: &str, size: u64) -> Result<(), loom_domain::Error>;

    /// Asks the platform who the credential is.
    async fn verify(&self) -> Result<Identity, Fault>;

    /// Serves one session: connects, registers, receives, acknowledges after the commit, until it ends or
    /// `session.stop` is cancelled. Reconnecting after the end is the caller's duty; planned replacement of a
    /// socket (overlap) is the channel's.
    async fn serve(&self, session: Session) -> SessionEnd;

    /// Makes one attempt to deliver one Part. Never repeats a publish call by itself.
    async fn deliver(&self, part: SendPart, progress: &dyn Progress) -> SendOutcome;

    /// Asks the platform what became of an attempt.
    async fn settle(&self, part: SettlePart) -> Settlement;

    /// Reads messages of a conversation or thread, oldest first.
    async fn history(&self, query: HistoryQuery) -> Result<HistoryPage, Fault>;

    /// Fetches an inbound file, at most `bytes_max` bytes.
    async fn fetch_attachment(&self, reference: &str, bytes_max: u64) -> Result<FetchedFile, Fault>;

    /// Whether a thread or message belongs to the conversation.
    async fn check_target(&self, target: CheckTarget) -> Result<bool, Fault>;

    /// Sets or removes the working mark on a message. Cosmetic: may be dropped.
    async fn mark(&self, conversation_id: &str, message_id: &str, mark: Mark) -> Result<(), Fault>;

    /// Lists the conversations that the platform shows to the bot.
    async fn candidates(&self) -> Result<Vec<CandidateInfo>, Fault>;

    /// Looks up one conversation (kind, name, whether the bot is a member).
    async fn conversation(&self, conversation_id: &str) -> Result<CandidateInfo, Fault>;

    /// Display name of an actor, from a cache or the platform; never needed for custody.
    async fn actor_name(&self, actor_id: &str) -> Option<String>;
}

/// Splits a text for a provider's limits without a live channel; what [`Channel::split`] does.
pub fn split(
    provider: &str,
    text: &str,
    format: TextFormat,
    chunks_max: usize,
) -> Result<Vec<String>, loom_domain::Error> {
    match provider {
        "slack" => slack::split(text, format, chunks_max),
        "feishu" => feishu::split(text, format, chunks_max),
        other => {
            Err(loom_domain::Error::invalid("provider", format!("this build has no channel for {other}")))
        }
    }
}
