//! What a Turn is asked to do (`loom.turn_config/v1`): from flags, a file, or a request.

use std::collections::BTreeMap;

use loom_domain::{Code, Error, Result};
use loom_secrets::CredentialRef;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    Catalog, ConnectorConfig, HostKind, RunLimits, RunRequest, RunSettings, read_document, schema, sha256_of,
};

/// Schema of an order.
const SCHEMA: &str = "loom.turn_config/v1";
/// Most connectors of one Turn.
pub const CONNECTORS_MAX: usize = 16;
/// Longest time of a Turn, when it names none, and at most.
const DEADLINE_SECONDS: u64 = 600;
const DEADLINE_SECONDS_MAX: u64 = 24 * 60 * 60;
/// Longest prompt.
pub const PROMPT_CHARS_MAX: usize = 100_000;
/// Longest turn key.
const KEY_CHARS_MAX: usize = 200;

/// What happens behind a connector that failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// The Turn ends.
    #[default]
    Stop,
    /// The next one runs.
    Continue,
}

/// One connector of a Turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnCall {
    /// Connector.
    #[serde(alias = "id")]
    pub connector: String,
    /// Operation; absent is the first.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub operation: String,
    /// Input.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub input: Value,
    /// References by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub credential_refs: BTreeMap<String, CredentialRef>,
    /// Base URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_url: Option<String>,
    /// Limits.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: RunLimits,
}

fn is_default(limits: &RunLimits) -> bool {
    *limits == RunLimits::default()
}

/// A Turn as it is asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnOrder {
    /// `loom.turn_config/v1`.
    #[serde(default = "schema_version")]
    pub schema_version: String,
    /// Connectors in the order they run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connectors: Vec<TurnCall>,
    /// What happens behind one that failed.
    #[serde(default)]
    pub on_error: OnError,
    /// Agent that runs behind them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What the Agent is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Host that the Turn is planned for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Key: the same key is the same Turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_key: Option<String>,
    /// Seconds of the whole Turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_seconds: Option<u64>,
    /// Whose trust its content has.
    #[serde(default = "default_domain")]
    pub trust_domain: String,
}

fn schema_version() -> String {
    SCHEMA.to_owned()
}

fn default_domain() -> String {
    "default".to_owned()
}

impl TurnCall {
    /// A call without input.
    pub fn of(connector: &str) -> Self {
        TurnCall { connector: connector.to_owned(), ..TurnCall::default() }
    }

    /// `ID`, or `ID=` with an input or a whole `loom.connector_config/v1` as its text.
    pub fn with_text(connector: &str, text: &str) -> Result<Self> {
        let document = read_document(text)?;
        if document.get("schema_version").is_none() {
            return Ok(TurnCall { input: document, ..TurnCall::of(connector) });
        }
        let config = ConnectorConfig::parse(text)?;
        if crate::fold_id(&config.connector)? != crate::fold_id(connector)? {
            let why = format!("the configuration is one of {}, not of {connector}", config.connector);
            return Err(Error::new(Code::InvalidInput, why).with_detail("pointer", "/connector"));
        }
        Ok(TurnCall {
            connector: connector.to_owned(),
            operation: config.operation.unwrap_or_default(),
            input: config.input,
            credential_refs: config.credential_refs,
            api_url: config.api_url,
            limits: config.limits,
        })
    }

    /// The request of its run.
    pub(super) fn request(&self) -> RunRequest {
        RunRequest {
            operation: self.operation.clone(),
            input: if self.input.is_null() { json!({}) } else { self.input.clone() },
            limits: self.limits,
            settings: RunSettings {
                api_url: self.api_url.clone(),
                credential_refs: self.credential_refs.clone(),
            },
            ..RunRequest::default()
        }
    }
}

impl TurnOrder {
    /// An order without connectors.
    pub fn new() -> Self {
        TurnOrder { schema_version: schema_version(), trust_domain: default_domain(), ..TurnOrder::default() }
    }

    /// Reads a file.
    pub fn parse(text: &str) -> Result<Self> {
        TurnOrder::of(&read_document(text)?)
    }

    /// Reads a document; an unknown key is named.
    pub fn of(document: &Value) -> Result<Self> {
        schema::check(&rules(), document)?;
        let order = TurnOrder::deserialize(document);
        order.map_err(|error| {
            Error::new(Code::InvalidInput, format!("the Turn: {error}")).with_detail("pointer", "")
        })
    }

    /// Seconds of the whole Turn.
    pub fn deadline_seconds(&self) -> u64 {
        self.deadline_seconds.unwrap_or(DEADLINE_SECONDS)
    }

    /// Digest of everything but the key.
    pub fn inputs_digest(&self) -> String {
        sha256_of(&TurnOrder { turn_key: None, ..self.clone() })
    }

    /// Spells connector ids as the catalog does, and refuses what no Turn can do.
    pub(super) fn checked(mut self, catalog: &Catalog) -> Result<Self> {
        let refused = |pointer: &str, why: String| {
            Err(Error::new(Code::InvalidInput, why).with_detail("pointer", pointer))
        };
        for call in &mut self.connectors {
            call.connector = catalog.connector(&call.connector)?.entry().qualified();
        }
        if self.connectors.len() > CONNECTORS_MAX {
            return refused("/connectors", format!("more than {CONNECTORS_MAX} connectors"));
        }
        if self.schema_version != SCHEMA {
            return refused("/schema_version", format!("schema_version must be {SCHEMA}"));
        }
        if !(1..=DEADLINE_SECONDS_MAX).contains(&self.deadline_seconds()) {
            return refused("/deadline_seconds", format!("1 to {DEADLINE_SECONDS_MAX} seconds"));
        }
        let has_prompt = self.prompt.as_ref().is_some_and(|prompt| !prompt.trim().is_empty());
        if self.agent.is_some() != has_prompt {
            return refused("/prompt", "an Agent needs a prompt, and a prompt an Agent".to_owned());
        }
        if self.connectors.is_empty() && self.agent.is_none() {
            return refused("/connectors", "a Turn needs a connector or an Agent".to_owned());
        }
        if let Some(host) = &self.host {
            HostKind::parse(host)?;
        }
        if let Some(key) = &self.turn_key
            && (key.is_empty() || key.chars().count() > KEY_CHARS_MAX || key.chars().any(char::is_control))
        {
            return refused("/turn_key", format!("1 to {KEY_CHARS_MAX} printable characters"));
        }
        let without_prompt = TurnOrder { prompt: None, ..self.clone() };
        crate::config::refuse_secrets(&json!(without_prompt), &mut String::new())?;
        Ok(self)
    }
}

/// The schema of an order.
fn rules() -> Value {
    let text = |most: usize| json!({"type": "string", "maxLength": most});
    json!({
        "type": "object", "additionalProperties": false,
        "properties": {
            "schema_version": text(60),
            "connectors": {"type": "array", "maxItems": CONNECTORS_MAX, "items": {
                "type": "object", "additionalProperties": false,
                "properties": {
                    "connector": text(97), "id": text(97), "operation": text(48), "input": {"type": "object"},
                    "credential_refs": {"type": "object", "additionalProperties": text(256)},
                    "api_url": text(300), "limits": {"type": "object"},
                },
            }},
            "on_error": {"enum": ["stop", "continue"]},
            "agent": text(100), "prompt": text(PROMPT_CHARS_MAX), "host": text(40), "turn_key": text(KEY_CHARS_MAX),
            "deadline_seconds": {"type": "integer", "minimum": 1, "maximum": DEADLINE_SECONDS_MAX},
            "trust_domain": text(48),
        },
    })
}
