//! Configuration of a run as a file: `loom.connector_config/v1`.

use std::collections::BTreeMap;

use loom_domain::connector_plan::CallOrder;
use loom_domain::{Code, Error, Result};
use loom_secrets::{CredentialRef, find_secret_in_input};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{RunLimits, RunRequest, RunSettings, read_document, schema};

/// Schema of the file.
const SCHEMA: &str = "loom.connector_config/v1";

/// What to run, with what, and how far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectorConfig {
    /// `loom.connector_config/v1`.
    pub schema_version: String,
    /// Connector or capability.
    pub connector: String,
    /// Operation; absent is the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
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
    /// Whether the payload is kept.
    #[serde(default = "yes")]
    pub save: bool,
}

fn yes() -> bool {
    true
}

fn is_default(limits: &RunLimits) -> bool {
    *limits == RunLimits::default()
}

impl ConnectorConfig {
    /// Reads a file. A literal secret in it is `secret_in_input`; an unknown key is named.
    pub fn parse(text: &str) -> Result<Self> {
        let document = read_document(text)?;
        refuse_secrets(&document, &mut String::new())?;
        schema::check(&rules(), &document)?;
        let config = ConnectorConfig::deserialize(&document).map_err(|error| {
            Error::new(Code::InvalidInput, format!("the configuration: {error}")).with_detail("pointer", "")
        })?;
        if config.schema_version == SCHEMA {
            return Ok(config);
        }
        Err(Error::new(Code::InvalidInput, format!("schema_version must be {SCHEMA}"))
            .with_detail("pointer", "/schema_version"))
    }

    /// The file of a request.
    pub fn of(connector: &str, request: &RunRequest, save: bool) -> Self {
        let RunSettings { api_url, credential_refs } = request.settings.clone();
        ConnectorConfig {
            schema_version: SCHEMA.to_owned(),
            connector: connector.to_owned(),
            operation: Some(request.operation.clone()).filter(|operation| !operation.is_empty()),
            input: request.input.clone(),
            credential_refs,
            api_url,
            limits: request.limits,
            save,
        }
    }

    /// The file as a call of a plan.
    pub fn order(self) -> CallOrder {
        let refs = self.credential_refs.into_iter();
        CallOrder {
            connector: self.connector,
            operation: self.operation,
            input: self.input,
            credential_refs: refs.map(|(name, reference)| (name, reference.to_string())).collect(),
            api_url: self.api_url,
            limits: if is_default(&self.limits) { Value::Null } else { serde_json::json!(self.limits) },
            ..CallOrder::default()
        }
    }

    /// The request of the file; what `over` says counts more.
    pub fn request(self, over: RunRequest) -> RunRequest {
        let mut input = self.input;
        match (input.as_object_mut(), over.input) {
            (Some(members), Value::Object(given)) => members.extend(given),
            (None, given) => input = given,
            (Some(_), _) => {}
        }
        let mut credential_refs = self.credential_refs;
        credential_refs.extend(over.settings.credential_refs);
        let (own, given) = (self.limits, over.limits);
        RunRequest {
            operation: if over.operation.is_empty() {
                self.operation.unwrap_or_default()
            } else {
                over.operation
            },
            input,
            limits: RunLimits {
                timeout_seconds: given.timeout_seconds.or(own.timeout_seconds),
                deadline_seconds: given.deadline_seconds.or(own.deadline_seconds),
                limit: given.limit.or(own.limit),
                max_pages: given.max_pages.or(own.max_pages),
            },
            settings: RunSettings { api_url: over.settings.api_url.or(self.api_url), credential_refs },
            ..over
        }
    }
}

/// A reference is no secret; everything else that looks like one is.
pub(crate) fn refuse_secrets(value: &Value, pointer: &mut String) -> Result<()> {
    let below = |step: &str, member: &Value, pointer: &mut String| {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(step);
        let done = refuse_secrets(member, pointer);
        pointer.truncate(length);
        done
    };
    match value {
        Value::String(text) if CredentialRef::parse(text).is_ok() => Ok(()),
        Value::String(text) => match find_secret_in_input(text) {
            None => Ok(()),
            Some(rule) => {
                Err(Error::new(Code::SecretInInput, "the configuration holds a secret and was refused")
                    .with_detail("rule", rule.id())
                    .with_detail("pointer", pointer.as_str()))
            }
        },
        Value::Array(items) => {
            items.iter().enumerate().try_for_each(|(at, item)| below(&at.to_string(), item, pointer))
        }
        Value::Object(members) => members.iter().try_for_each(|(key, member)| below(key, member, pointer)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// The schema of the file.
fn rules() -> Value {
    let text = |most: u32| serde_json::json!({"type": "string", "maxLength": most});
    serde_json::json!({
        "type": "object", "additionalProperties": false, "required": ["schema_version", "connector"],
        "properties": {
            "schema_version": text(60), "connector": text(97), "operation": text(48), "input": {"type": "object"},
            "credential_refs": {"type": "object", "additionalProperties": text(256)},
            "api_url": text(300), "save": {"type": "boolean"},
            "limits": {"type": "object", "additionalProperties": false, "properties": {
                "timeout_seconds": {"type": "number", "minimum": 0.1, "maximum": 600},
                "deadline_seconds": {"type": "integer", "minimum": 1, "maximum": 86_400},
                "limit": {"type": "integer", "minimum": 1, "maximum": 1_000_000},
                "max_pages": {"type": "integer", "minimum": 1, "maximum": 10_000},
            }},
        },
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const FILE: &str = "schema_version: loom.connector_config/v1\nconnector: github_public_probe\n";

    /// CAP-018: an unknown key is refused with its pointer.
    #[test]
    fn cap_018_unknown_keys_are_refused() {
        let error = ConnectorConfig::parse(&format!("{FILE}conector: x\n")).unwrap_err();
        assert_eq!((error.code, error.detail["pointer"].as_str()), (Code::InvalidInput, Some("")));
        assert!(error.message.contains("`conector`"), "{}", error.message);
        let error = ConnectorConfig::parse(&format!("{FILE}limits: {{pages: 3}}\n")).unwrap_err();
        assert_eq!(error.detail["pointer"], "/limits");
        assert!(error.message.contains("`pages`; known are deadline_seconds"), "{}", error.message);
    }

    /// CAP-019: a literal token is refused and not echoed.
    #[test]
    fn cap_019_a_literal_token_is_refused() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let error =
            ConnectorConfig::parse(&format!("{FILE}credential_refs: {{github: {token}}}\n")).unwrap_err();
        assert_eq!(error.code, Code::SecretInInput);
        assert!(!serde_json::to_string(&error).unwrap().contains("a1B2a1B2"));
    }

    /// CAP-016: what is given beside the file counts more.
    #[test]
    fn cap_016_flags_beat_the_file() {
        let config = ConnectorConfig::parse(&format!(
            "{FILE}input: {{url: a, fetch_metadata: true}}\nlimits: {{limit: 3}}\n"
        ));
        let over = RunRequest { input: json!({"url": "b"}), ..RunRequest::default() };
        let request = config.unwrap().request(over);
        assert_eq!(request.input, json!({"url": "b", "fetch_metadata": true}));
        assert_eq!(request.limits.limit, Some(3));
        let again = ConnectorConfig::of("github_public_probe", &request, true);
        let text = serde_json::to_string(&again).unwrap();
        assert_eq!(ConnectorConfig::parse(&text).unwrap(), again);
    }
}
