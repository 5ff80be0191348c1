//! The trait that every capability implements, and what a run takes and gives.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use loom_domain::{Principal, Result};
use loom_secrets::CredentialRef;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CatalogEntry, Cursor, Cx, Effect, Readiness, RunPlan, Sink, SourceRef};

/// A unit with an id, typed operations, declared hosts, declared effects and output schemas.
#[async_trait]
pub trait Capability: Send + Sync {
    /// What the catalog shows. Built once; it never changes while the process lives.
    fn entry(&self) -> &CatalogEntry;

    /// Whether it can run now. Writes nothing, and opens nothing unless `cx.network_checks()`.
    async fn readiness(&self, _cx: &Cx, _operation: Option<&str>) -> Readiness {
        Readiness::ready(self.entry())
    }

    /// What a run would do: pure. Start from [`RunPlan::of`] and add the requests.
    fn plan(&self, request: &RunRequest) -> Result<RunPlan>;

    /// Whether a run waits for the owner's approval of its exact bytes.
    fn is_gated(&self, _principal: &Principal, request: &RunRequest) -> bool {
        let operation = self.entry().find_operation(&request.operation);
        operation.is_none_or(|operation| operation.effect == Effect::Write)
    }

    /// Runs one operation. The input is valid for the operation's schema; results leave through `out` only.
    async fn run(&self, cx: &Cx, request: RunRequest, out: &mut dyn Sink) -> Result<RunOutcome>;
}

/// Which objects a run touches, by resource key; grants bind them.
pub type Resources = BTreeMap<String, String>;

/// One order: an operation with its input.
#[derive(Debug, Clone, Default)]
pub struct RunRequest {
    /// Operation of the entry.
    pub operation: String,
    /// Input, with the schema's defaults filled in.
    pub input: Value,
    /// Objects the run touches.
    pub resources: Resources,
    /// Where to go on.
    pub cursor: Option<Cursor>,
    /// Limits.
    pub limits: RunLimits,
    /// Approval of a gated write.
    pub approval: Option<ApprovalRef>,
    /// Which installation of the service and which credential: the owner's words, never an agent's.
    pub settings: RunSettings,
}

/// Base URL and credentials of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunSettings {
    /// Base URL in the place of the public one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_url: Option<String>,
    /// Credential references by the names of the entry's credentials.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub credential_refs: BTreeMap<String, CredentialRef>,
}

/// Limits of one run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunLimits {
    /// Seconds of one request attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<f64>,
    /// Seconds of the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_seconds: Option<u64>,
    /// Items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_pages: Option<u32>,
}

impl RunLimits {
    /// The limit of one attempt, when one was given.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }
}

/// Names the gate whose approval a write uses, and what that is bound to beside the request. It is a name only:
/// whether there is an approval, the world's [`crate::GateBook`] says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApprovalRef {
    /// Gate.
    pub gate_id: String,
    /// As whom it is sent.
    pub sender_identity: Option<String>,
    /// Key that a provider tells repeats by.
    pub idempotency_key: String,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Everything was read.
    #[default]
    End,
    /// As many items as asked for.
    Limit,
    /// As many pages as allowed.
    MaxPages,
    /// The deadline passed.
    Deadline,
    /// The provider asks to wait.
    RateLimited,
    /// Stopped by a signal or command.
    Cancelled,
    /// It failed.
    Error,
}

/// What the facts mean for whoever asked; the run itself came to its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing stands against it.
    #[default]
    Met,
    /// What was asked about failed.
    Failed,
    /// Somebody has to decide before it can go on.
    NeedsDecision,
}

/// What a capability tells about a run that came to its end. Results went through the sink.
#[derive(Debug, Clone, Default)]
pub struct RunOutcome {
    /// Where the facts come from.
    pub source_refs: Vec<SourceRef>,
    /// Why it ended; everything but `end` is incomplete.
    pub stop_reason: StopReason,
    /// Where to go on, when it is incomplete.
    pub cursor: Option<Cursor>,
    /// Codes of what was missing or strange.
    pub warnings: Vec<String>,
    /// Whether Loom computed every fact itself; answers of providers are untrusted.
    pub is_own_fact: bool,
    /// What the facts mean.
    pub verdict: Verdict,
}

impl RunOutcome {
    /// A complete run about one source.
    pub fn of(source: SourceRef) -> Self {
        RunOutcome { source_refs: vec![source], ..RunOutcome::default() }
    }
}
