//! Plans: what a run would do, without doing any of it.

use std::collections::BTreeMap;

use loom_domain::{Code, Error, Result};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{CatalogEntry, Effect, Effects, PlannedWrite, Resources, RunLimits, RunRequest, sha256_of};

/// A request that a run would begin with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PlannedRequest {
    /// Method.
    pub method: String,
    /// URL without secrets.
    pub url: String,
}

/// A host with the verdict of the egress policy by its name; addresses are checked when it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PlannedHost {
    /// `host:port`.
    pub host: String,
    /// `allowed`, or the reason of the refusal.
    pub verdict: &'static str,
}

/// What a run would do (`loom.run_plan/v1`).
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct RunPlan {
    /// `loom.run_plan/v1`.
    pub schema_version: &'static str,
    /// Digest of everything that decides what is done.
    pub plan_digest: String,
    /// Canonical id.
    pub connector_id: String,
    /// Version.
    pub connector_version: String,
    /// Operation.
    pub operation: String,
    /// What it does.
    pub effect: Effect,
    /// Input with defaults.
    pub input: Value,
    /// Objects it touches.
    pub resources: Resources,
    /// Limits.
    pub limits: RunLimits,
    /// Credential references by name.
    pub credential_refs: BTreeMap<String, String>,
    /// Base URL, when it is not the public one.
    pub api_url: Option<String>,
    /// Requests it begins with.
    pub requests: Vec<PlannedRequest>,
    /// Hosts.
    pub hosts: Vec<PlannedHost>,
    /// Limiter scope.
    pub rate_scope: Option<String>,
    /// Gates it needs.
    pub gates: Vec<Value>,
    /// All zero.
    pub effects: Effects,
    /// What a write sends, byte by byte.
    #[serde(skip)]
    pub write: Option<PlannedWrite>,
}

impl RunPlan {
    /// The plan of a request, still without requests; fails when the operation does not exist.
    pub fn of(entry: &CatalogEntry, request: &RunRequest) -> Result<Self> {
        let operation = entry
            .find_operation(&request.operation)
            .ok_or_else(|| no_operation(entry, &request.operation))?;
        let refs = &request.settings.credential_refs;
        Ok(RunPlan {
            schema_version: "loom.run_plan/v1",
            plan_digest: String::new(),
            connector_id: entry.id.clone(),
            connector_version: entry.version.clone(),
            operation: operation.id.clone(),
            effect: operation.effect,
            input: request.input.clone(),
            resources: request.resources.clone(),
            limits: request.limits,
            credential_refs: refs.iter().map(|(name, one)| (name.clone(), one.to_string())).collect(),
            api_url: request.settings.api_url.clone(),
            requests: Vec::new(),
            hosts: Vec::new(),
            rate_scope: operation.rate_scope.clone(),
            gates: Vec::new(),
            effects: Effects::default(),
            write: None,
        })
    }

    /// Adds a request.
    pub fn request(mut self, method: &str, url: impl Into<String>) -> Self {
        self.requests.push(PlannedRequest { method: method.to_owned(), url: url.into() });
        self
    }

    /// Says what the write sends: a plan that sends one writes, whatever its operation does otherwise.
    pub fn write(mut self, write: PlannedWrite) -> Self {
        self.effect = Effect::Write;
        self.write = Some(write);
        self
    }

    /// Binds an object that the run touches.
    pub fn resource(mut self, key: &str, value: impl Into<String>) -> Self {
        self.resources.insert(key.to_owned(), value.into());
        self
    }

    /// Judges the hosts and computes the digest.
    pub(crate) fn sealed(mut self, entry: &CatalogEntry) -> Self {
        let mut hosts: Vec<PlannedHost> = Vec::new();
        for request in &self.requests {
            let Some(host) = authority(&request.url) else { continue };
            let own = self.api_url.as_deref().and_then(authority).is_some_and(|base| base == host);
            let declared = entry.hosts.iter().any(|rule| format!("{}:{}", rule.host, rule.port) == host);
            let allowed = own || declared || entry.any_public_host;
            let verdict = if allowed { "allowed" } else { "host_not_allowed" };
            if !hosts.iter().any(|known| known.host == host) {
                hosts.push(PlannedHost { host, verdict });
            }
        }
        self.hosts = hosts;
        self.plan_digest = sha256_of(&json!({
            "connector_id": self.connector_id,
            "connector_version": self.connector_version,
            "operation": self.operation,
            "input": self.input,
            "credential_refs": self.credential_refs,
            "api_url": self.api_url,
            "resources": self.resources,
            "limits": self.limits,
        }));
        self
    }
}

pub(crate) fn authority(url: &str) -> Option<String> {
    let url = url::Url::parse(url).ok()?;
    Some(format!("{}:{}", url.host_str()?, url.port_or_known_default()?))
}

pub(crate) fn no_operation(entry: &CatalogEntry, wanted: &str) -> Error {
    let known: Vec<&str> = entry.operations.iter().map(|operation| operation.id.as_str()).collect();
    Error::new(Code::OperationNotFound, format!("{} has no operation {wanted}", entry.id))
        .with_hint(format!("operations: {}", known.join(", ")))
        .with_detail("nearest", known)
}
