//! Bodies of requests. Absent fields stay as they are; `clear` names fields to empty (camelCase).
//! AGENT fields are a name or an `agt_` id.

mod agent;
mod capability;
mod connection;
mod hub;
mod inbox;
mod integration;
mod membership;
mod outbox;
mod policy;
mod report;
mod schedule;
mod send;
mod webhook;

pub use agent::{ArchiveAgent, CreateAgent, ThreadInput, UpdateAgent};
pub use capability::{CapabilityRun, DecideGate, GateDecision, GiveGrant, RunPlan};
pub use connection::{AddressPolicy, Bind, Connect, IssueToken, UpdateAddress, UpdateConnection};
pub use hub::Stop;
pub use inbox::{Cancel, Defer, NoReply, Retry};
pub use integration::ApplyIntegration;
pub use membership::{Confirm, EnableMembership, SetMembership, TestMembership, Versioned};
pub use outbox::{Settle, Settlement};
pub use policy::{PolicyExplain, PolicyReplay};
pub use report::Report;
pub use schedule::AddSchedule;
pub use send::{Content, File, Reply, Send};
pub use webhook::{Deliver, PutEndpoint};
