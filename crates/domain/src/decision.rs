//! Judges one inbound event for one Address (messaging specification 3.2): a pure function that ends in
//! exactly one decision, with the deciding step and a trace of every step before it.

mod access;
mod head;
mod normalise;
mod policy;
mod recheck;
mod steps;
#[cfg(test)]
mod tests;
mod view;

use serde::Serialize;

use crate::bot_loop::BotCounters;
use crate::message::{Decision, Evidence, PolicyVersion};
use crate::pending::PendingCounts;
use crate::reason::EventReason;
use crate::{Address, Connection, InboundEvent, Membership, Timestamp};

pub use normalise::{CONTEXT_BYTES_MAX, CONTEXT_CHARS_MAX, CONTEXT_MESSAGES_MAX, RAW_BYTES_MAX, normalise};
pub use policy::{effective_reply_policy, effective_trigger};
pub use recheck::{AgentGate, Recheck, recheck, recheck_without_address};
pub use view::evidence;

/// Default oldest age of an accepted event, milliseconds.
pub const MAX_AGE_MS: i64 = 86_400_000;
/// Longest id in an event, bytes.
pub const ID_BYTES_MAX: usize = 256;
/// Messages a minute of a sender without enabled Membership.
pub const SENDER_PER_MINUTE_MAX: u32 = 20;
/// Messages an hour of a sender without enabled Membership.
pub const SENDER_PER_HOUR_MAX: u32 = 200;
/// Open items of one conversation.
pub const OPEN_PER_CONVERSATION_MAX: u32 = 2_000;
/// Open items of one Agent.
pub const OPEN_PER_AGENT_MAX: u32 = 10_000;

/// What the ledger knows of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Known {
    /// Nothing.
    #[default]
    New,
    /// This very event was judged for this Address.
    Event,
    /// Another event of the same message was judged for this Address.
    Message {
        /// With this reason.
        reason: EventReason,
        /// On this evidence.
        evidence: Evidence,
    },
}

/// Counts taken before this message, in the transaction that stores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Pending items.
    pub pending: PendingCounts,
    /// Messages of this sender at this Address in the last minute.
    pub sender_last_minute: u32,
    /// Messages of this sender at this Address in the last hour.
    pub sender_last_hour: u32,
    /// Open items of this conversation.
    pub open_in_conversation: u32,
    /// Open items of the Agent.
    pub open_of_agent: u32,
    /// Bot messages.
    pub bots: BotCounters,
    /// Whether the message id is one of our own Receipts.
    pub is_own_receipt: bool,
}

/// Limits that the configuration can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Oldest age of an accepted event, milliseconds.
    pub max_age_ms: i64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_age_ms: MAX_AGE_MS }
    }
}

/// Everything a judgement depends on.
#[derive(Debug, Clone, Copy)]
pub struct DecisionInput<'a> {
    /// The event.
    pub event: &'a InboundEvent,
    /// Its Connection.
    pub connection: &'a Connection,
    /// The Address it is judged for; none when the Connection has none.
    pub address: Option<&'a Address>,
    /// Whether the Address's Agent is archived.
    pub agent_archived: bool,
    /// Membership of the Address in the conversation; an archived one counts as none.
    pub membership: Option<&'a Membership>,
    /// Further ids of the Address itself (bot id, app id) beside its identity and the Connection's account.
    pub own_ids: &'a [String],
    /// What the ledger knows.
    pub known: Known,
    /// Counts.
    pub counters: Counters,
    /// Present time.
    pub now: Timestamp,
    /// Limits.
    pub limits: Limits,
}

/// One row of the explanation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepTrace {
    /// Step of the table, such as `14g`.
    pub step: &'static str,
    /// Condition that was tested.
    pub condition: &'static str,
    /// Value it was tested on.
    pub value: String,
    /// `pass`, `skip`, a mark, or the final reason code.
    pub result: &'static str,
}

/// The result: one decision, its reason and how it came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
pub struct Judgement {
    /// Decision.
    pub decision: Decision,
    /// Reason.
    pub reason: EventReason,
    /// Deciding step.
    pub step: &'static str,
    /// Trigger evidence, computed from structured data only.
    pub evidence: Evidence,
    /// Whether the sender waits for approval.
    pub pending: bool,
    /// Whether the message is nothing but a mention or dispatch.
    pub mention_only: bool,
    /// Policy versions it was judged under.
    pub policy_version: PolicyVersion,
    /// Every step up to the deciding one.
    pub trace: Vec<StepTrace>,
}

/// What one step says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// The condition does not hold; go on.
    Pass,
    /// The condition is about something else; go on.
    Skip,
    /// Go on with a mark.
    Mark(&'static str),
    /// The judgement ends here.
    End(Decision, EventReason),
}

impl Verdict {
    /// Refuses with the reason when the condition holds.
    const fn refuse_if(holds: bool, reason: EventReason) -> Verdict {
        if holds { Verdict::End(Decision::Refused, reason) } else { Verdict::Pass }
    }

    const fn word(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Skip => "skip",
            Verdict::Mark(word) => word,
            Verdict::End(_, reason) => reason.as_str(),
        }
    }
}

/// Judges an event as it comes in.
pub fn decide(input: &DecisionInput<'_>) -> Judgement {
    run(input, evidence(input), &[])
}

/// Judges a pending item again, with the evidence stored at its first judgement. It is known, it may be
/// old, and it holds its pending place already, so steps 6, 9 and 19 do not apply.
pub fn rejudge(input: &DecisionInput<'_>, stored: Evidence) -> Judgement {
    run(input, stored, &["6", "9", "19"])
}

/// Judges a refused event again on the owner's demand: it is known and may be old, so steps 6 and 9 do not
/// apply.
pub fn replay(input: &DecisionInput<'_>) -> Judgement {
    run(input, evidence(input), &["6", "9"])
}

fn run(input: &DecisionInput<'_>, evidence: Evidence, skipped: &[&str]) -> Judgement {
    let mut trace = Vec::with_capacity(steps::COUNT);
    let ended = head::run(input, &mut trace).or_else(|| {
        let view = view::View::new(input, evidence)?;
        Some(steps::run(&view, skipped, &mut trace))
    });
    // Without an Address the head has ended at step 3, so there is always an end.
    let (step, decision, reason) = ended.unwrap_or(("3", Decision::Refused, EventReason::NoAddress));
    Judgement {
        decision,
        reason,
        step,
        evidence,
        pending: decision == Decision::Pending,
        mention_only: decision != Decision::Fact && view::is_mention_only(input.event, evidence),
        policy_version: view::policy_version(input),
        trace,
    }
}
