//! What can happen to a Part, and what the store does about it.

use super::{ClaimCheck, OutboxReason, Part, PartError, Receipt, SendOutcomeKind, Step};
use crate::{Timestamp, words};

/// Facts of the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartContext {
    /// Present time.
    pub now: Timestamp,
    /// Nothing is published at or after this time.
    pub expires_at: Timestamp,
    /// Fence of the caller; absent when the hub itself acts (claims, sweeps, owner).
    pub fence: Option<u64>,
    /// How far the open or last Attempt got.
    pub step: Step,
    /// When that Attempt published, or started.
    pub published_at: Timestamp,
    /// Random number for jitter.
    pub random: u64,
}

/// Result of a question to the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// It is there.
    Found(Receipt),
    /// An authoritative "not there".
    Absent,
    /// One complete read did not find it; two of them, far enough apart, are authoritative.
    AbsentRead,
    /// No answer now.
    NoAnswer,
    /// The provider can never answer; the owner decides.
    Never,
}

/// What the owner says about an unknown Part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnerVerdict {
    /// It arrived.
    Sent(Receipt),
    /// Send it again.
    Resend,
    /// Give up.
    Failed,
}

/// Why a Part that waits ends without its own fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Somebody cancelled the item.
    Cancelled(OutboxReason),
    /// An earlier Part failed, or the policy refused one.
    EarlierFailed,
    /// An earlier Part expired.
    EarlierExpired,
}

/// What happens to a Part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartEvent {
    /// The courier takes it, with the result of the check at claim.
    Claim(ClaimCheck),
    /// The Attempt reached a step.
    Step,
    /// The provider accepted it. Also a late result of an older Attempt.
    Accepted(Receipt),
    /// Nothing was accepted.
    Retryable {
        /// Whether that is proven although the publish call was made.
        proven: bool,
        /// Wait that the provider asks for.
        retry_after_ms: Option<i64>,
        /// Error.
        error: PartError,
    },
    /// The provider asked to wait; its scope is paused.
    RateLimited {
        /// Until when; the default wait when not told.
        until: Option<Timestamp>,
        /// Error.
        error: PartError,
    },
    /// Refused for good.
    Permanent(PartError),
    /// Not known whether it was accepted.
    Unknown(PartError),
    /// The credential was refused.
    Auth(PartError),
    /// A quota is used up.
    Quota {
        /// Until when; an hour when not told.
        until: Option<Timestamp>,
        /// Error.
        error: PartError,
    },
    /// Lease lost, crash, or restart of hub or gateway.
    LeaseLost,
    /// Settlement.
    Settled(Settled),
    /// The owner settles.
    Owner(OwnerVerdict),
    /// The wait is over, or the credential changed.
    Due,
    /// Its time to live is over.
    Expire,
    /// It ends without its own fault.
    Stop(Stop),
    /// `outbox retry`.
    Retry {
        /// A newer reply replaced the item.
        superseded: bool,
    },
    /// `outbox retry` of the Part whose failure cancelled or expired this one.
    Returned,
}

words! {
    /// What the owner is told about a Part.
    pub enum PartNotice {
        /// It failed for good.
        DeadLetter = "dead_letter",
        /// The policy refused it after it was admitted.
        PolicyDenied = "send_policy_denied",
        /// It stays unknown until the owner settles it.
        NeedsSettlement = "needs_settlement",
        /// It was not delivered in time; told in a digest.
        Expired = "send_expired",
        /// People saw it twice.
        DuplicateDelivery = "duplicate_delivery",
        /// Proof of delivery came after the Part had ended otherwise.
        LateReceipt = "late_receipt",
    }
}

/// What the store does beside writing the Part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartEffect {
    /// End the Attempt.
    CloseAttempt(SendOutcomeKind),
    /// Pause the whole limited scope until then.
    PauseScope(Timestamp),
    /// Later Parts get `Stop(EarlierFailed)`.
    CancelLater,
    /// Later Parts get `Stop(EarlierExpired)`.
    ExpireLater,
    /// Later Parts that the failure ended get `Returned`.
    ReturnLater,
    /// Set the item's reason.
    Reason(OutboxReason),
    /// `expiresAt` starts anew.
    RestartTtl,
    /// Tell the owner.
    Tell(PartNotice),
}

/// The Part after the event, and the effects. Fence, lease and ids of a new Attempt are the store's.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct PartNext {
    /// Row of the transition table.
    pub row: u8,
    /// The Part.
    pub part: Part,
    /// What else to do, in this order.
    pub effects: Vec<PartEffect>,
}
