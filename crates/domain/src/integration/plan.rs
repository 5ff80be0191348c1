//! What an apply would do: changes by object and field, those that need approval, and a digest of it all.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Fields, Key, Kind, Tree};
use crate::{canonical, words};

words! {
    /// What happens to an object.
    pub enum Action {
        /// It is made.
        Create = "create",
        /// Fields change.
        Update = "update",
        /// It ends.
        Archive = "archive",
    }
}

/// A field that changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FieldChange {
    /// Its name.
    pub field: String,
    /// What it is.
    pub from: Value,
    /// What it becomes.
    pub to: Value,
}

/// An object that changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Kind.
    pub kind: Kind,
    /// Id, or the name of a new one.
    pub id: String,
    /// What happens.
    pub action: Action,
    /// Fields, in order.
    pub fields: Vec<FieldChange>,
    /// Why it needs approval.
    pub sensitive: Vec<String>,
}

/// Everything that changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Digest of the configuration that it starts from.
    pub hub_digest: String,
    /// Changes, in the order in which objects name each other.
    pub changes: Vec<Change>,
    /// Digest of the plan; an approval names it.
    pub plan_digest: String,
}

impl Plan {
    /// What leads from one configuration to another.
    pub fn between(from: &Tree, to: &Tree) -> Plan {
        let keys: BTreeSet<&Key> = from.objects.keys().chain(to.objects.keys()).collect();
        let changes: Vec<Change> = keys
            .into_iter()
            .filter_map(|key| change(key, from.objects.get(key), to.objects.get(key)))
            .collect();
        let hub_digest = from.digest();
        let plan_digest = digest(&changes, &hub_digest);
        Plan { hub_digest, changes, plan_digest }
    }

    /// Whether the digest is that of the changes.
    pub fn is_whole(&self) -> bool {
        self.plan_digest == digest(&self.changes, &self.hub_digest)
    }

    /// Whether something needs approval.
    pub fn is_sensitive(&self) -> bool {
        self.changes.iter().any(|change| !change.sensitive.is_empty())
    }

    /// Whether something ends.
    pub fn archives(&self) -> bool {
        self.changes.iter().any(|change| change.action == Action::Archive)
    }
}

impl Change {
    /// The place of its object, as files and people name it.
    pub fn object(&self) -> String {
        format!("{}/{}", self.kind, self.id)
    }
}

fn digest(changes: &[Change], hub_digest: &str) -> String {
    let plan = json!({"changes": changes, "hub_digest": hub_digest});
    format!("sha256:{}", canonical::sha256_hex(&plan))
}

fn change(key: &Key, from: Option<&Fields>, to: Option<&Fields>) -> Option<Change> {
    let action = match (from, to) {
        (None, Some(_)) => Action::Create,
        (Some(_), None) => Action::Archive,
        _ => Action::Update,
    };
    let none = Fields::new();
    let (from, to) = (from.unwrap_or(&none), to.unwrap_or(&none));
    let names: BTreeSet<&String> = from.keys().chain(to.keys()).collect();
    let value = |side: &Fields, name: &String| side.get(name).cloned().unwrap_or(Value::Null);
    let differs =
        |name: &&String| from.get(*name).unwrap_or(&Value::Null) != to.get(*name).unwrap_or(&Value::Null);
    let fields: Vec<FieldChange> = match action {
        Action::Archive => Vec::new(),
        _ => names
            .into_iter()
            .filter(differs)
            .map(|name| FieldChange { field: name.clone(), from: value(from, name), to: value(to, name) })
            .collect(),
    };
    if action == Action::Update && fields.is_empty() {
        return None;
    }
    let sensitive = fields.iter().filter_map(|field| reason(key.kind, field)).collect();
    Some(Change { kind: key.kind, id: key.id.clone(), action, fields, sensitive })
}

/// Why a change of a field needs approval.
fn reason(kind: Kind, change: &FieldChange) -> Option<String> {
    let to = change.to.as_str();
    let opens = |order: &[&str]| {
        let rank = |value: &Value| order.iter().position(|word| Some(*word) == value.as_str());
        rank(&change.to).unwrap_or(0) > rank(&change.from).unwrap_or(0)
    };
    let is_sensitive = match (kind, change.field.as_str()) {
        (_, "enabled") | (Kind::Connections, "allowHttp") => change.to == Value::Bool(true),
        (Kind::Connections, "credentialRef" | "apiUrl" | "proxyUrl") => !change.to.is_null(),
        (Kind::Addresses, "dmPolicy") => opens(&["closed", "managed", "open"]),
        (Kind::Addresses, "attachmentPolicy") => opens(&["none", "safe", "all"]),
        (Kind::Addresses, "trustDomain") => true,
        (
            Kind::Addresses,
            "allowActors" | "allowConversations" | "allowBots" | "blockActors" | "blockConversations",
        ) => !(change.from.is_null() && change.to.as_array().is_some_and(Vec::is_empty)),
        (Kind::Addresses | Kind::Memberships, "triggerPolicy") => to == Some("all"),
        (Kind::Memberships, "outboundPolicy") => to == Some("proactive"),
        _ => false,
    };
    is_sensitive.then(|| format!("{}: {} → {}", change.field, change.from, change.to))
}
