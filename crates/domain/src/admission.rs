//! Admits a send or says why not (messaging specification 5.2): rows in order, the first failure is the answer.

mod request;
mod rows;
#[cfg(test)]
mod tests;

use crate::idempotency::{Earlier, Verdict};
use crate::inbox::Item;
use crate::message::{Origin, SenderKind};
use crate::{
    Address, AgentId, Connection, Error, Expectation, Membership, Principal, ReplyPolicy, Timestamp,
};

pub use request::{SendFile, SendRequest, SendTarget};

/// Parts of text in one send.
pub const CHUNKS_MAX: usize = 20;

/// What a send points at.
#[derive(Debug, Clone, Copy)]
pub enum Purpose<'a> {
    /// A reply to an Inbox item.
    Reply {
        /// The item, if it exists and the principal may see it.
        item: Option<&'a Item>,
        /// Origin of its Message.
        origin: Origin,
        /// What its Message expects.
        expectation: Expectation,
        /// Reply policy that rules it: frozen at claim, else the present one.
        reply_policy: ReplyPolicy,
    },
    /// A send of the Agent's own accord.
    Proactive {
        /// The Agent named by `--from`.
        from: &'a AgentId,
        /// Proactive sends of the Membership in the last hour.
        last_hour: u32,
        /// Kinds of the conversation's newest senders, newest first.
        newest_senders: &'a [SenderKind],
        /// End of the quiet period that holds now.
        quiet_until: Option<Timestamp>,
        /// Whether a given target belongs to the conversation; none when the ledger does not know and the
        /// provider is asked before the first Part.
        target_belongs: Option<bool>,
    },
}

/// Everything an admission depends on.
#[derive(Debug, Clone, Copy)]
pub struct AdmissionInput<'a> {
    /// Who asks.
    pub principal: &'a Principal,
    /// What is asked.
    pub request: &'a SendRequest,
    /// What it points at.
    pub purpose: Purpose<'a>,
    /// Connection.
    pub connection: Option<&'a Connection>,
    /// Address.
    pub address: Option<&'a Address>,
    /// Membership; required for a proactive send.
    pub membership: Option<&'a Membership>,
    /// Digest of the request.
    pub fingerprint: &'a str,
    /// Newest earlier item of the idempotency scope.
    pub earlier: Option<Earlier<'a>>,
    /// Text chunks on this platform, when the caller has counted them.
    pub chunks: Option<usize>,
    /// Largest file of this platform, bytes.
    pub platform_file_bytes_max: u64,
    /// Labels of the content.
    pub labels: &'a [String],
    /// Open Outbox items of the Agent.
    pub open_of_agent: u32,
}

/// Why an admitted item is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// Content of other trust domains (these labels); the caller gets `release_required`.
    Release(Vec<String>),
    /// Quiet hours until then.
    Quiet(Timestamp),
}

/// An admitted send.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Admission {
    /// Store a new item.
    New {
        /// Held for this.
        held: Option<Held>,
        /// The earlier item is superseded.
        supersedes: bool,
    },
    /// The earlier item answers the call.
    Existing(Verdict),
}

/// Admits a send, or gives the first failure.
pub fn admit(input: &AdmissionInput<'_>) -> Result<Admission, Error> {
    rows::principal(input)?;
    rows::exists(input)?;
    let verdict = match rows::idempotency(input)? {
        existing @ (Verdict::Same | Verdict::Duplicate | Verdict::Unknown) => {
            return Ok(Admission::Existing(existing));
        }
        fresh => fresh,
    };
    rows::target(input)?;
    rows::content(input)?;
    let (connection, address) = rows::switches(input)?;
    rows::membership(input)?;
    rows::policies(input)?;
    rows::capabilities(input, connection)?;
    rows::platform_files(input)?;
    rows::budgets(input)?;
    let held = rows::trust(input, address).or_else(|| rows::quiet(input));
    Ok(Admission::New { held, supersedes: verdict == Verdict::Supersedes })
}
