//! How Loom reads and acts on outside services: the capability trait, the runtime catalog, and the connectors.
//!
//! What it is not: it opens no socket of its own, prints nothing, and knows neither hub nor store.
//!
//! Invariants
//! - Every byte to the network leaves through `loom-transport`, and effects are counted there, never asserted.
//! - Nothing of an answer leaves a run but the fields that its operation declares, projected and redacted.
//! - A plan is pure: making one opens nothing and changes nothing.
//! - An id is known when the catalog knows it, and not otherwise.

mod blocking;
mod capability;
mod catalog;
mod chain;
mod config;
mod cursor;
mod cx;
mod declared;
mod digest;
mod document;
mod documents;
mod entry;
pub mod finance_probe;
mod gate;
mod github;
pub mod github_public_probe;
pub mod github_reply_monitor;
mod hosts;
pub mod http_webhook;
mod input;
mod jq;
pub mod lark_notify;
pub mod lark_probe;
mod payload;
mod payloads;
mod plan;
pub mod pr_program;
pub mod pr_review;
mod projection;
mod run;
mod schema;
mod send_path;
mod sink;
mod source_map;
mod state_file;
mod turn;

pub use blocking::blocking;
pub use capability::{
    ApprovalRef, Capability, Resources, RunLimits, RunOutcome, RunRequest, RunSettings, StopReason, Verdict,
};
pub use catalog::{Catalog, fold_id};
pub use chain::{Chain, ChainRow, chain_file, is_chain_held, is_unwritten_since, read_chain};
pub use config::ConnectorConfig;
pub use cursor::{Cursor, CursorSeal};
pub use cx::{Credentials, Cx, Door, Effects, Found, Key, Meter, Scratch, World};
pub use declared::{
    Added, Damaged, DeclaredConnector, Fault, InstalledMaps, LOCAL_PACKAGE, Loaded, TestResult, Validation,
    live_request, parse as parse_source_map, run_tests as run_source_map_tests,
    validate as validate_source_map,
};
pub use digest::{canonical, sha256_of, sha256_of_bytes};
pub use document::{DOCUMENT_BYTES_MAX, read_document};
pub use documents::{Document, documents};
pub use entry::{
    Boundary, CatalogEntry, CredentialNeed, Effect, HostRule, Idempotency, Kind, Operation, Origin,
    Readiness, Reason, State, Status,
};
pub use gate::{
    GateBook, PlannedWrite, Prepared, call_digest, check_plan, parse_plan, prepare, prepare_all, spelled_out,
};
pub use github::check_repos;
pub use hosts::{
    Detection, HostKind, HostModePlan, HostOrder, HostOverview, Intent, Look, Mode, PlannedConnector,
    PlannedHostProgram, Step, StepKind,
};
pub use input::{accept_input, read_input};
pub use payload::{Payload, SourceRef};
pub use payloads::{Difference, Doing, HistoryFilter, PayloadStore, Pruned, Retention, Row, differences};
pub use plan::{PlannedRequest, RunPlan};
pub use projection::{Projected, Projection};
pub use run::{NoObserver, Observer, Started, effective, plan, run};
pub use schema::Schema;
pub use send_path::{Letter, Recipient, SendPath, Sent};
pub use sink::{Flow, Notice, Sink};
pub use source_map::{MappedOperation, SourceMap, source_map};
pub use turn::{
    AgentCall, AgentEnd, AgentState, AgentStep, AgentView, BLOCKS_BYTES_MAX, Begun, CONNECTORS_MAX,
    ConnectorState, ConnectorView, Engine, Journal, JournalRow, OnError, PROMPT_CHARS_MAX, Ran,
    TURNS_LISTED_MAX, Turn, TurnBuilder, TurnCall, TurnEnd, TurnEvent, TurnObserver, TurnOrder, TurnOutcome,
    TurnPlan, TurnPlanAgent, TurnPlanConnector, TurnRoom, TurnState, TurnView,
};

/// How answers that were stored are used.
pub use loom_transport::CacheMode;

/// The one error of Loom.
pub use loom_domain::Error as LoomError;
