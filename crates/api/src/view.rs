//! Answers that are more than one stored object. Plain objects are `loom_domain`'s own.

mod agent;
mod audit;
mod connection;
mod event;
mod inbox;
mod outbox;
mod plan;
mod policy;
mod refusal;
mod schedule;
mod status;
mod trail;
mod webhook;

pub use agent::{
    AgentDetail, AgentEntry, CurrentTurn, MembershipTotals, QueueTotals, Relationship, ThreadInputResult,
    TurnEntry,
};
pub use audit::{AuditRow, AuditVerdict};
pub use connection::{
    Accepted, CandidateEntry, CapabilityEvidence, ConnectionEntry, Health, IssuedToken, ProbeResult,
    RateLimit, Reconnect, ScopeEvidence, Session, Spool,
};
pub use event::HubEvent;
pub use inbox::{AddressRef, AttemptRef, InboxDetail, InboxEntry, MembershipRef, OutboxRef};
pub use outbox::{Admission, InboundTest, OutboxDetail, OutboxEntry};
pub use plan::{CallRun, PlanEntry};
pub use policy::{Judged, PolicyExplanation, PolicyReplayResult, PolicyStep, ReplayChange};
pub use refusal::{ReasonCount, RefusalDetail, ReplayedEvent};
pub use schedule::ScheduleEntry;
pub use status::{AgentTotals, ConnectionTotals, HubStatus, InboxTotals, OutboxTotals};
pub use trail::{TrailStep, Where};
pub use webhook::{DeliveryEntry, HookAnswer};
