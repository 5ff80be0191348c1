//! The plan of a Turn on a host: what is there, what is missing, and the steps in order.

use loom_domain::{Code, Error, Result};
use serde::Serialize;
use serde_json::json;

use super::detect::{Detection, Look, VersionStatus, compared};
use super::{HostKind, Intent, Mode, NAME_CHARS_MAX};
use crate::{
    Capability, Catalog, CatalogEntry, Cx, Effects, Readiness, Reason, RunLimits, RunSettings, Status, World,
    sha256_of,
};

/// Most connectors of a plan.
const CONNECTORS_MAX: usize = 16;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct HostOrder {
    /// Host.
    pub kind: HostKind,
    /// Its name as it was given.
    pub name: String,
    /// Program or URL of the owner's own.
    pub command: Option<String>,
    /// Connectors by id.
    pub connectors: Vec<String>,
    /// Agent by name or id.
    pub agent: Option<String>,
    /// What the owner wants.
    pub intents: Vec<Intent>,
    /// Whether programs are looked for.
    pub look: Look,
    /// Whether the plan names where they are.
    pub shows_paths: bool,
}

/// What is known of the program of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PlannedHostProgram {
    /// `codex`, `claude-code`, `opencode`, `acp`, `generic` or `http`.
    pub id: HostKind,
    /// The name that was given.
    pub name: String,
    /// Whether it is there; null when nobody looked.
    pub found: Option<bool>,
    /// The version it names.
    pub version: Option<String>,
    /// How that compares with the tested one.
    pub version_status: VersionStatus,
    /// Where it is, when that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// A connector of a plan.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct PlannedConnector {
    /// Canonical id.
    pub connector_id: String,
    /// The whole entry of the catalog.
    pub connector: CatalogEntry,
    /// Its readiness in one word.
    pub readiness: Status,
    /// Whether the principal of the Turn may run it: the owner may, an Agent needs a grant.
    pub granted: bool,
}

/// Readiness of the whole plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PlanReadiness {
    /// All in one word.
    pub status: Status,
    /// What is missing.
    pub reasons: Vec<Reason>,
}

/// What a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Run this.
    Run,
    /// Install something.
    Install,
    /// Set something.
    Configure,
    /// Give a grant.
    Grant,
    /// Go no further.
    Stop,
}

/// A step towards the Turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Step {
    /// Place, from 1.
    pub n: u32,
    /// What it is.
    pub kind: StepKind,
    /// A command, or what to do where there is none.
    pub command: String,
}

/// The plan (`loom.host_mode_plan/v1`).
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct HostModePlan {
    /// `loom.host_mode_plan/v1`.
    pub schema_version: &'static str,
    /// A plan was made.
    pub ok: bool,
    /// Host.
    pub host: PlannedHostProgram,
    /// Mode.
    pub mode: Mode,
    /// Connector of the host.
    pub host_connector: &'static str,
    /// Agent, when one was named.
    pub agent: Option<String>,
    /// Connectors.
    pub connectors: Vec<PlannedConnector>,
    /// Readiness.
    pub readiness: PlanReadiness,
    /// Steps in order.
    pub steps: Vec<Step>,
    /// Digest of all of this.
    pub plan_digest: String,
    /// All zero.
    pub effects: Effects,
}

/// Every host (`loom.host_modes/v1`).
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct HostOverview {
    /// `loom.host_modes/v1`.
    pub schema_version: &'static str,
    /// The plan of each.
    pub hosts: Vec<HostModePlan>,
    /// All zero.
    pub effects: Effects,
}

impl HostOverview {
    /// Puts the plans together.
    pub fn of(hosts: Vec<HostModePlan>) -> Self {
        HostOverview { schema_version: "loom.host_modes/v1", hosts, effects: Effects::default() }
    }
}

impl HostModePlan {
    /// Makes the plan. Unknown connectors are errors; a host that is missing is a plan that is not ready.
    pub async fn make(world: &World, catalog: &Catalog, order: HostOrder) -> Result<Self> {
        check(&order)?;
        let connectors = order.connectors.iter().map(|id| catalog.connector(id));
        let connectors: Vec<_> = connectors.collect::<Result<_>>()?;
        let found = looked(&order).await;
        let host = program(&order, found.as_ref());
        let mut reasons: Vec<Reason> = missing(&order, &host).into_iter().collect();
        let granted = order.agent.is_none();
        let mut planned = Vec::new();
        for connector in connectors {
            let readiness = readiness(world, &**connector).await;
            let mut entry = connector.entry().clone();
            if readiness.status != Status::Ready {
                reasons.extend(readiness.reasons.iter().cloned().map(|reason| of_entry(&entry, reason)));
            }
            let status = readiness.status;
            entry.readiness = readiness;
            let connector_id = entry.qualified();
            planned.push(PlannedConnector { connector_id, connector: entry, readiness: status, granted });
        }
        let status = reasons.first().map_or(Status::Ready, |reason| reason.code);
        let mut plan = HostModePlan {
            schema_version: "loom.host_mode_plan/v1",
            ok: true,
            host,
            mode: Mode::of(&order.intents),
            host_connector: order.kind.connector(),
            agent: order.agent.clone(),
            connectors: planned,
            readiness: PlanReadiness { status, reasons },
            steps: Vec::new(),
            plan_digest: String::new(),
            effects: Effects::default(),
        };
        plan.steps = plan.steps(&order);
        plan.plan_digest = sha256_of(&json!(plan));
        Ok(plan)
    }

    /// Whether everything is there.
    pub fn is_ready(&self) -> bool {
        self.readiness.status == Status::Ready && self.connectors.iter().all(|one| one.granted)
    }

    fn steps(&self, order: &HostOrder) -> Vec<Step> {
        let mut steps: Vec<(StepKind, String)> = Vec::new();
        for reason in &self.readiness.reasons {
            let kind = match reason.code {
                Status::MissingTool | Status::VersionTooOld => StepKind::Install,
                Status::Blocked => StepKind::Stop,
                _ => StepKind::Configure,
            };
            steps.push((kind, reason.hint.clone()));
        }
        for one in self.connectors.iter().filter(|one| !one.granted) {
            let operation =
                one.connector.operations.first().map(|first| first.id.as_str()).unwrap_or_default();
            let agent = order.agent.as_deref().unwrap_or_default();
            let command = format!("loom capability grant {agent} {} --op {operation}", one.connector_id);
            steps.push((StepKind::Grant, command));
        }
        let mut run = format!("loom turn run --host {}", order.kind.id());
        for one in &self.connectors {
            run.push_str(&format!(" --connector {}", one.connector_id));
        }
        if let Some(agent) = &order.agent {
            run.push_str(&format!(" --agent {agent} --prompt-file FILE"));
        }
        if !self.connectors.is_empty() || order.agent.is_some() {
            steps.push((StepKind::Run, run));
        }
        let numbered = (1_u32..).zip(steps);
        numbered.map(|(n, (kind, command))| Step { n, kind, command }).collect()
    }
}

fn check(order: &HostOrder) -> Result<()> {
    if order.connectors.len() > CONNECTORS_MAX {
        return Err(Error::new(Code::InvalidInput, format!("more than {CONNECTORS_MAX} connectors")));
    }
    for text in [Some(&order.name), order.command.as_ref(), order.agent.as_ref()].into_iter().flatten() {
        if text.is_empty() || text.chars().count() > NAME_CHARS_MAX || text.chars().any(char::is_control) {
            let why = format!("names and commands have 1 to {NAME_CHARS_MAX} printable characters");
            return Err(Error::new(Code::InvalidInput, why));
        }
    }
    Ok(())
}

/// What was found, when it was looked for.
async fn looked(order: &HostOrder) -> Option<Detection> {
    let Look::Path(path) = &order.look else { return None };
    if order.kind == HostKind::Http {
        return None;
    }
    let program = order.command.as_deref().or(order.kind.binary())?;
    Some(Detection::of(program, path).await)
}

fn program(order: &HostOrder, found: Option<&Detection>) -> PlannedHostProgram {
    let detection = found.cloned().unwrap_or_default();
    let path = detection.path.as_ref().filter(|_| order.shows_paths);
    PlannedHostProgram {
        id: order.kind,
        name: order.name.clone(),
        found: found.map(|found| found.path.is_some()),
        version_status: compared(detection.version.as_deref(), order.kind.tested()),
        version: detection.version,
        path: path.map(|path| path.display().to_string()),
    }
}

/// What keeps the host from being ready.
fn missing(order: &HostOrder, host: &PlannedHostProgram) -> Option<Reason> {
    let reason = |code, hint: String| Some(Reason { operation: "host".to_owned(), code, hint });
    let id = order.kind.id();
    if order.command.is_none() && order.kind.binary().is_none() {
        let what = if order.kind == HostKind::Http { "URL" } else { "PROGRAM" };
        return reason(Status::NotConfigured, format!("name it with --host-command {what}"));
    }
    if order.kind == HostKind::Http {
        return None;
    }
    match (host.found, host.version_status) {
        (Some(false), _) => {
            let program = order.command.as_deref().or(order.kind.binary()).unwrap_or(id);
            reason(Status::MissingTool, format!("{program} was not found; install it in a folder of PATH"))
        }
        (None, _) => reason(Status::NotConfigured, "it was not looked for; leave --no-detect out".to_owned()),
        (Some(true), VersionStatus::Older) => {
            let tested = order.kind.tested().unwrap_or_default();
            reason(Status::VersionTooOld, format!("update {id} to {tested} or newer"))
        }
        (Some(true), _) if host.version.is_none() && order.kind.tested().is_some() => {
            reason(Status::Blocked, format!("{id} --version gave no version within two seconds"))
        }
        _ => None,
    }
}

fn of_entry(entry: &CatalogEntry, reason: Reason) -> Reason {
    Reason { operation: format!("{}.{}", entry.qualified(), reason.operation), ..reason }
}

async fn readiness(world: &World, capability: &dyn Capability) -> Readiness {
    let entry = capability.entry();
    let Some(operation) = entry.operations.first() else { return Readiness::ready(entry) };
    let cx = Cx::new(world, entry, operation, &RunSettings::default(), RunLimits::default());
    capability.readiness(&cx, None).await
}
