//! Grants: what an Agent may run. Without one it may run nothing (capability specification 3.3 and 3.4).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{AgentId, Code, Error, GrantId, Timestamp, words};

/// Most operations of a grant.
pub const OPERATIONS_MAX: usize = 50;
/// Most values of a resource.
pub const VALUES_MAX: usize = 100;
/// Bytes of a resource's value.
pub const VALUE_BYTES_MAX: usize = 512;

words! {
    /// The widest effect that a grant lets pass.
    pub enum GrantEffect {
        /// Reads.
        Read = "read",
        /// Reads and gated writes.
        Write = "write",
    }
}

/// What one Agent may run of one capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Id.
    pub id: GrantId,
    /// Order of commit.
    pub seq: u64,
    /// Agent.
    pub agent_id: AgentId,
    /// Capability, with its package.
    pub capability_id: String,
    /// Operations.
    pub operations: Vec<String>,
    /// Values that each resource key may have; `OWNER/*` stands for every repository of an owner.
    pub resources: BTreeMap<String, Vec<String>>,
    /// Widest effect.
    pub effect: GrantEffect,
    /// Its end.
    pub expires_at: Option<Timestamp>,
    /// Who gave it.
    pub granted_by: String,
    /// When.
    pub granted_at: Timestamp,
    /// When it was taken back.
    pub revoked_at: Option<Timestamp>,
    /// Version.
    pub version: u64,
}

/// What a run of an Agent asks of its grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// Capability, with its package.
    pub capability_id: &'a str,
    /// Operation.
    pub operation: &'a str,
    /// Whether it writes.
    pub writes: bool,
    /// Objects it touches.
    pub resources: &'a BTreeMap<String, String>,
    /// Resource keys that the operation declares.
    pub keys: &'a [String],
}

impl Grant {
    /// Whether it counts at a time.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }

    /// Whether it lets a run pass. Every object that the run touches has to be named.
    pub fn covers(&self, wanted: &Wanted<'_>, now: Timestamp) -> bool {
        self.is_live(now)
            && self.capability_id == wanted.capability_id
            && self.operations.iter().any(|operation| operation == wanted.operation)
            && (!wanted.writes || self.effect == GrantEffect::Write)
            && wanted.resources.iter().all(|(key, value)| self.names(key, value))
            // A limit on something that the run does not tell would be no limit.
            && self.resources.keys().all(|key| wanted.resources.contains_key(key) || !wanted.keys.contains(key))
    }

    fn names(&self, key: &str, value: &str) -> bool {
        let values = self.resources.get(key).map(Vec::as_slice).unwrap_or_default();
        if key != "repo" {
            return values.iter().any(|granted| granted == value);
        }
        // A run over several repositories names them all.
        let mut repos = value.split(',');
        repos.all(|repo| values.iter().any(|granted| granted == repo || is_of_owner(granted, repo)))
    }
}

/// Whether `OWNER/*` covers a repository.
fn is_of_owner(granted: &str, value: &str) -> bool {
    let Some(owner) = granted.strip_suffix("/*") else { return false };
    value.split_once('/').is_some_and(|(found, name)| {
        found == owner && !name.is_empty() && !name.contains('/') && !matches!(name, "." | "..")
    })
}

/// Refuses a run that no grant covers.
pub fn require(grants: &[Grant], wanted: &Wanted<'_>, now: Timestamp) -> Result<(), Error> {
    if grants.iter().any(|grant| grant.covers(wanted, now)) {
        return Ok(());
    }
    let effect = if wanted.writes { "write" } else { "read" };
    let resources: Vec<String> =
        wanted.resources.iter().map(|(key, value)| format!(" --resource {key}={value}")).collect();
    let flags = format!("--op {} --effect {effect}{}", wanted.operation, resources.concat());
    Err(Error::new(
        Code::Forbidden,
        format!("no grant lets you run {} of {}", wanted.operation, wanted.capability_id),
    )
    .with_hint(format!("ask the owner for `loom capability grant AGENT {} {flags}`", wanted.capability_id))
    .with_detail("rule", "grant"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(repo: &str) -> Grant {
        Grant {
            id: GrantId::new(1, 1),
            seq: 1,
            agent_id: AgentId::new(1, 1),
            capability_id: "github_public_probe".to_owned(),
            operations: vec!["probe".to_owned()],
            resources: BTreeMap::from([("repo".to_owned(), vec![repo.to_owned()])]),
            effect: GrantEffect::Read,
            expires_at: Some(Timestamp(1_000)),
            granted_by: "owner".to_owned(),
            granted_at: Timestamp(0),
            revoked_at: None,
            version: 1,
        }
    }

    fn allows(grant: &Grant, repo: &str, operation: &str, writes: bool, at: i64) -> bool {
        let resources = BTreeMap::from([("repo".to_owned(), repo.to_owned())]);
        let keys = ["repo".to_owned()];
        let wanted = Wanted {
            capability_id: "github_public_probe",
            operation,
            writes,
            resources: &resources,
            keys: &keys,
        };
        require(std::slice::from_ref(grant), &wanted, Timestamp(at)).is_ok()
    }

    /// CAP-035: a grant for one repository is for no other, whatever its spelling.
    #[test]
    fn cap_035_a_grant_names_its_objects_exactly() {
        let one = grant("acme/tool");
        assert!(allows(&one, "acme/tool", "probe", false, 0));
        for other in
            ["acme/other", "ACME/tool", "acme/Tool", "acme/tool/", "acme/tool ", "evil/acme/tool", ""]
        {
            assert!(!allows(&one, other, "probe", false, 0), "{other}");
        }
        assert!(!allows(&one, "acme/tool", "scan", false, 0), "another operation");
        assert!(!allows(&one, "acme/tool", "probe", true, 0), "a write");
        assert!(!allows(&one, "acme/tool", "probe", false, 1_000), "past its end");
        let owner = grant("acme/*");
        assert!(allows(&owner, "acme/tool,acme/other", "probe", false, 0));
        assert!(!allows(&owner, "acme/tool,evil/other", "probe", false, 0));
        assert!(allows(&owner, "acme/tool", "probe", false, 0));
        for other in ["acmes/tool", "acme/", "acme/..", "acme/a/b", "Acme/tool", "acme"] {
            assert!(!allows(&owner, other, "probe", false, 0), "{other}");
        }
    }

    #[test]
    fn a_run_that_does_not_tell_its_object_is_not_covered() {
        let one = grant("acme/tool");
        let (nothing, keys) = (BTreeMap::new(), ["repo".to_owned()]);
        let wanted = Wanted {
            capability_id: "github_public_probe",
            operation: "probe",
            writes: false,
            resources: &nothing,
            keys: &keys,
        };
        assert!(require(&[one], &wanted, Timestamp(0)).is_err());
        let free = Grant { resources: BTreeMap::new(), ..grant("x") };
        assert!(require(&[free], &wanted, Timestamp(0)).is_ok(), "nothing is touched, nothing is bound");
    }
}
