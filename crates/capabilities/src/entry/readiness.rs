//! Whether a capability can run now, and what helps when it cannot.

use std::collections::BTreeMap;

use loom_domain::{Code, Error, Result};
use serde::{Deserialize, Serialize};

use super::CatalogEntry;

/// How ready it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It can run.
    #[default]
    Ready,
    /// Some operations can run.
    Degraded,
    /// A setting is missing.
    NotConfigured,
    /// It is switched off.
    NotEnabled,
    /// A program is missing.
    MissingTool,
    /// A program is too old.
    VersionTooOld,
    /// A credential is missing.
    CredentialMissing,
    /// The credential was refused.
    CredentialInvalid,
    /// Something else keeps it from running.
    Blocked,
}

/// Why an operation is not ready, and the command that helps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Reason {
    /// Operation.
    pub operation: String,
    /// Status word.
    pub code: Status,
    /// What to do.
    pub hint: String,
}

/// Readiness of a capability and of each operation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Readiness {
    /// All in one word.
    pub status: Status,
    /// Each operation.
    pub operations: BTreeMap<String, Status>,
    /// What is missing.
    pub reasons: Vec<Reason>,
}

impl Readiness {
    /// Every operation is ready.
    pub fn ready(entry: &CatalogEntry) -> Self {
        let operations =
            entry.operations.iter().map(|operation| (operation.id.clone(), Status::Ready)).collect();
        let ready = Readiness { status: Status::Ready, operations, reasons: Vec::new() };
        if entry.state.enabled {
            ready
        } else {
            ready.all_without(Status::NotEnabled, "enable the package first")
        }
    }

    /// Marks one operation as not ready.
    pub fn without(mut self, operation: &str, code: Status, hint: &str) -> Self {
        self.operations.insert(operation.to_owned(), code);
        self.reasons.push(Reason { operation: operation.to_owned(), code, hint: hint.to_owned() });
        let ready = self.operations.values().any(|status| *status == Status::Ready);
        self.status = if ready { Status::Degraded } else { code };
        self
    }

    /// Marks every operation as not ready.
    pub fn all_without(self, code: Status, hint: &str) -> Self {
        let ids: Vec<String> = self.operations.keys().cloned().collect();
        ids.iter().fold(self, |readiness, id| readiness.without(id, code, hint))
    }

    /// Fails with `not_ready` unless the operation is ready.
    pub fn require(&self, operation: &str) -> Result<()> {
        let status = self.operations.get(operation).copied().unwrap_or(self.status);
        if status == Status::Ready {
            return Ok(());
        }
        let reason = self.reasons.iter().find(|reason| reason.operation == operation);
        let word = serde_json::to_value(status).unwrap_or_default();
        let word = word.as_str().unwrap_or_default();
        let error =
            Error::new(Code::NotReady, format!("{operation} is not ready: {}", word.replace('_', " ")))
                .with_detail("readiness", word);
        Err(match reason {
            Some(reason) => error.with_hint(&reason.hint),
            None => error,
        })
    }
}
