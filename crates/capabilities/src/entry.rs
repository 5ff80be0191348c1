//! Catalog entries: what a capability says about itself.

mod operation;
mod readiness;

use serde::{Deserialize, Serialize};

pub use operation::{Effect, Idempotency, Operation};
pub use readiness::{Readiness, Reason, Status};

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Turns an outside source into a payload, or carries one out; has the operation `probe`.
    ValueConnector,
    /// Any other capability.
    Capability,
    /// A program that Turns are planned for; not runnable.
    Host,
}

/// Where an entry comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Part of the program.
    Builtin,
    /// An installed source map.
    SourceMap,
    /// An extension.
    Extension,
}

/// The widest thing an entry reads or does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Boundary {
    /// Facts about public objects.
    PublicMetadata,
    /// Public texts.
    PublicContent,
    /// What only a credential shows.
    PrivateRead,
    /// Writes behind a gate.
    GatedWrite,
}

/// Whether it is installed and switched on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct State {
    /// Installed.
    pub installed: bool,
    /// Switched on.
    pub enabled: bool,
}

/// A credential that it can use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct CredentialNeed {
    /// Name, as `credential_refs` spell it.
    pub name: String,
    /// Fields.
    pub fields: Vec<String>,
    /// Whether nothing works without it.
    pub required: bool,
}

/// A host that it may reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct HostRule {
    /// Exact host.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Methods.
    pub methods: Vec<String>,
}

/// What the catalog shows of a capability (`loom.catalog_entry/v1`).
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct CatalogEntry {
    /// `loom.catalog_entry/v1`.
    pub schema_version: &'static str,
    /// Canonical id.
    pub id: String,
    /// Other ids that mean it.
    pub aliases: Vec<String>,
    /// What it is.
    pub kind: Kind,
    /// One line for people.
    pub title: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Package, when it comes from one.
    pub package: Option<String>,
    /// Version.
    pub version: String,
    /// The widest thing it does.
    pub boundary: Boundary,
    /// Installed and enabled.
    pub state: State,
    /// Readiness; every operation counts as ready until somebody asked.
    pub readiness: Readiness,
    /// Operations; the first is the default.
    #[schemars(with = "Vec<operation::Shown>")]
    pub operations: Vec<Operation>,
    /// Credentials.
    pub credentials: Vec<CredentialNeed>,
    /// Hosts.
    pub hosts: Vec<HostRule>,
    /// When an agent should stop and ask.
    pub stop_conditions: Vec<String>,
    /// How writes are gated.
    pub write_gate: Option<String>,
    /// Name of the service in errors and logs, such as `github`.
    #[serde(skip)]
    pub provider: String,
    /// Whether the owner may reach any public host with it.
    #[serde(skip)]
    pub any_public_host: bool,
    /// Environment variable with a base URL in the place of the public one.
    #[serde(skip)]
    pub api_url_variable: Option<&'static str>,
    /// Two command lines without `loom`, for help.
    #[serde(skip)]
    pub examples: [String; 2],
}

impl CatalogEntry {
    /// Starts the entry of a built-in value connector.
    pub fn connector(id: &str, title: &str) -> Self {
        CatalogEntry {
            schema_version: "loom.catalog_entry/v1",
            id: id.to_owned(),
            aliases: Vec::new(),
            kind: Kind::ValueConnector,
            title: title.to_owned(),
            origin: Origin::Builtin,
            package: None,
            version: "1.0.0".to_owned(),
            boundary: Boundary::PublicMetadata,
            state: State { installed: true, enabled: true },
            readiness: Readiness::default(),
            operations: Vec::new(),
            credentials: Vec::new(),
            hosts: Vec::new(),
            stop_conditions: Vec::new(),
            write_gate: None,
            provider: id.split('_').next().unwrap_or_default().to_owned(),
            any_public_host: false,
            api_url_variable: None,
            examples: [format!("value-connectors {}", flag(id)), format!("value-connectors show {id}")],
        }
    }

    /// Starts the entry of another built-in capability.
    pub fn capability(id: &str, title: &str) -> Self {
        let examples = [format!("capability run {id}"), format!("capability show {id}")];
        CatalogEntry { kind: Kind::Capability, examples, ..CatalogEntry::connector(id, title) }
    }

    /// Adds an alias.
    pub fn alias(mut self, alias: &str) -> Self {
        self.aliases.push(alias.to_owned());
        self
    }

    /// Sets the boundary.
    pub fn boundary(mut self, boundary: Boundary) -> Self {
        self.boundary = boundary;
        self
    }

    /// Adds an operation.
    pub fn operation(mut self, operation: Operation) -> Self {
        self.readiness.operations.insert(operation.id.clone(), Status::Ready);
        self.operations.push(operation);
        self
    }

    /// Adds a host on port 443.
    pub fn host(mut self, host: &str, methods: &[&str]) -> Self {
        let methods = methods.iter().map(|method| (*method).to_owned()).collect();
        self.hosts.push(HostRule { host: host.to_owned(), port: 443, methods });
        self
    }

    /// Lets the owner reach any public host with it.
    pub fn any_public_host(mut self) -> Self {
        self.any_public_host = true;
        self
    }

    /// Adds a credential.
    pub fn credential(mut self, name: &str, fields: &[&str], required: bool) -> Self {
        let fields = fields.iter().map(|field| (*field).to_owned()).collect();
        self.credentials.push(CredentialNeed { name: name.to_owned(), fields, required });
        self
    }

    /// Names the environment variable with another base URL.
    pub fn api_url_variable(mut self, name: &'static str) -> Self {
        self.api_url_variable = Some(name);
        self
    }

    /// Adds a stop condition.
    pub fn stop_condition(mut self, text: &str) -> Self {
        self.stop_conditions.push(text.to_owned());
        self
    }

    /// Sets the two examples of its help, as they stand behind `loom`.
    pub fn examples(mut self, first: &str, second: &str) -> Self {
        self.examples = [first.to_owned(), second.to_owned()];
        self
    }

    /// Finds an operation; `-` and `_` are the same.
    pub fn find_operation(&self, id: &str) -> Option<&Operation> {
        let id = super::catalog::folded(id);
        self.operations.iter().find(|operation| operation.id == id)
    }

    /// `PACKAGE/ID`, or the bare id of a built-in.
    pub fn qualified(&self) -> String {
        match &self.package {
            Some(package) => format!("{package}/{}", self.id),
            None => self.id.clone(),
        }
    }

    /// The command that runs it.
    pub fn command(&self) -> String {
        match self.kind {
            Kind::ValueConnector if self.package.is_none() => {
                format!("loom value-connectors {}", flag(&self.id))
            }
            _ => format!("loom capability run {}", self.qualified()),
        }
    }
}

/// An id as command lines spell it.
fn flag(id: &str) -> String {
    id.replace('_', "-")
}
