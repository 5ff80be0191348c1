//! Outbox operations: admission, claims, outcomes, settlement, and the owner's decisions.

mod admit;
mod claim;
mod create;
mod owner;
mod parts;
mod sweep;

use loom_domain::{
    AgentId, AttemptId, ConnectionId, Error, Expectation, InboxId, MembershipId, OutboxId, OutboxItem, Part,
    PartId, Result, SendAttempt, TextFormat, Timestamp,
    admission::SendFile,
    outbox::{PartEvent, Step, Target},
};

use super::outbox_read::parts_of;
use crate::{Act, Store, docs, params};

pub(crate) use admit::{Admitted, admit_reply};
pub use claim::ClaimedPart;
pub(crate) use create::{cancel_replies, create_reply, note_answer};
pub use owner::OwnerSettle;

/// A file of a send: in the store, checked by its digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftFile {
    /// Stored file.
    pub artifact_id: loom_domain::ArtifactId,
    /// Name, size, digest.
    pub file: SendFile,
    /// Type.
    pub mime_type: String,
}

/// What to send, prepared by the hub: cut into chunks that fit the platform, files in the store.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// Whole text.
    pub text: String,
    /// Form of the text.
    pub format: Option<TextFormat>,
    /// Chunks.
    pub chunks: Vec<String>,
    /// Files, in order.
    pub files: Vec<DraftFile>,
    /// Given target (proactive sends only).
    pub target: Target,
    /// Whether an answer is expected.
    pub expect_reply: Option<Expectation>,
    /// Key.
    pub idempotency_key: Option<String>,
    /// Time to live, seconds.
    pub ttl_seconds: Option<u64>,
    /// Ignores quiet hours.
    pub urgent: bool,
    /// Allowed although an earlier reply was partly delivered.
    pub after_partial: bool,
    /// Largest file of the platform, bytes.
    pub platform_file_bytes_max: Option<u64>,
}

/// Where to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum To {
    /// An Inbox item.
    Item(InboxId),
    /// A Membership, from an Agent.
    Membership {
        /// Membership.
        membership: MembershipId,
        /// Sending Agent.
        from: AgentId,
        /// Whether a given target belongs to the conversation, when the ledger or provider knows.
        target_belongs: Option<bool>,
    },
}

/// Result of a send.
#[derive(Debug, Clone)]
pub struct Sent {
    /// The item, new or earlier.
    pub item: OutboxItem,
    /// Its Parts.
    pub parts: Vec<Part>,
    /// Whether an earlier send answers the call.
    pub duplicate: bool,
}

impl Store {
    /// Admits and stores a send in one commit, or gives the first failure of admission.
    pub async fn send(&self, act: Act, to: To, draft: Draft) -> Result<Sent> {
        self.write(act, move |unit| create::send(unit, &to, &draft)).await
    }

    /// Runs admission only; nothing is stored.
    pub async fn check_admission(&self, act: Act, to: To, draft: Draft) -> Result<()> {
        let probe = self.write(act, move |unit| {
            admit::admit(unit, &to, &draft)?;
            Err::<(), _>(Error::new(loom_domain::Code::NothingToChange, "admitted"))
        });
        match probe.await {
            Err(error) if error.code == loom_domain::Code::NothingToChange => Ok(()),
            other => other,
        }
    }

    /// Claims up to `limit` Parts of a Connection, one per conversation, oldest first. Each has an open Attempt. A
    /// claim reaches the disk with the step that is committed before any byte leaves.
    pub async fn claim_parts(
        &self,
        act: Act,
        connection: ConnectionId,
        limit: u32,
        busy: Vec<String>,
        fence: u64,
    ) -> Result<Vec<ClaimedPart>> {
        self.write_unsynced(act, move |unit| claim::claim(unit, &connection, limit, &busy, fence)).await
    }

    /// When the next Part, retry or settlement of a Connection is due.
    pub async fn next_part_due(&self, connection: ConnectionId) -> Result<Option<Timestamp>> {
        self.read(move |tx| {
            let sql = "SELECT MIN(until) FROM parts WHERE connection_id = ?1 AND open = 1 AND state IN ('retry_wait', 'unknown') AND until > 0";
            let at = tx.number(sql, &params![connection.as_str()])?;
            Ok((at > 0).then_some(Timestamp(at)))
        })
        .await
    }

    /// Renews the lease of a Part in flight; an old fence is `lease_lost`.
    pub async fn renew_part(&self, act: Act, attempt: AttemptId, fence: u64) -> Result<Timestamp> {
        self.write(act, move |unit| parts::renew(unit, &attempt, fence)).await
    }

    /// Commits a step of an Attempt before its bytes leave.
    pub async fn step_part(
        &self,
        act: Act,
        attempt: AttemptId,
        fence: u64,
        step: Step,
        key: Option<String>,
    ) -> Result<()> {
        self.write(act, move |unit| {
            parts::step(unit, &attempt, fence, step, key.as_deref())?;
            crate::fail::point("part.step.before_commit")
        })
        .await?;
        crate::fail::point("part.step.after_commit")
    }

    /// Records the outcome of an Attempt. Idempotent: the first outcome stands.
    pub async fn finish_part(
        &self,
        act: Act,
        attempt: AttemptId,
        fence: u64,
        event: PartEvent,
    ) -> Result<Part> {
        self.write(act, move |unit| {
            let part = parts::finish(unit, &attempt, fence, &event)?;
            crate::fail::point("part.finish.before_commit")?;
            Ok(part)
        })
        .await
    }

    /// Unknown Parts of a Connection whose settlement is due, with the Attempt to ask about.
    pub async fn due_settlements(
        &self,
        connection: ConnectionId,
        now: Timestamp,
    ) -> Result<Vec<ClaimedPart>> {
        self.read(move |tx| claim::unknown(tx, &connection, now)).await
    }

    /// Records an answer of settlement.
    pub async fn settle_part(
        &self,
        act: Act,
        part: PartId,
        answer: loom_domain::outbox::Settled,
    ) -> Result<Part> {
        self.write(act, move |unit| parts::settled(unit, &part, &answer)).await
    }

    /// After a start or take-over: Parts left in flight by an older owner become `pending` or `unknown`.
    pub async fn recover_parts(&self, act: Act, connection: ConnectionId) -> Result<u64> {
        self.write(act, move |unit| sweep::recover(unit, &connection)).await
    }

    /// Ends what expired, returns what is due, and releases what was held until now. Gives the number of Parts moved.
    pub async fn sweep_outbox(&self, act: Act) -> Result<u64> {
        self.write(act, sweep::run).await
    }

    /// Tries a failed or expired item again.
    pub async fn retry_outbox(&self, act: Act, id: OutboxId) -> Result<OutboxItem> {
        self.write(act, move |unit| owner::retry(unit, &id)).await
    }

    /// Cancels what is not yet in flight.
    pub async fn cancel_outbox(&self, act: Act, id: OutboxId, reason: Option<String>) -> Result<OutboxItem> {
        self.write(act, move |unit| owner::cancel(unit, &id, reason.as_deref())).await
    }

    /// The owner says what became of unknown Parts.
    pub async fn settle_outbox(
        &self,
        act: Act,
        id: OutboxId,
        part: Option<PartId>,
        settle: OwnerSettle,
    ) -> Result<OutboxItem> {
        self.write(act, move |unit| owner::settle(unit, &id, part.as_ref(), &settle)).await
    }

    /// An Outbox item with its Parts and Attempts.
    pub async fn outbox_item(&self, id: OutboxId) -> Result<(OutboxItem, Vec<Part>, Vec<SendAttempt>)> {
        self.read(move |tx| {
            let item: OutboxItem = docs::require(tx, id.as_str())?;
            let attempts = docs::select(tx, "outbox_id = ?1 ORDER BY seq", &params![id.as_str()])?;
            Ok((item, parts_of(tx, &id)?, attempts))
        })
        .await
    }
}
