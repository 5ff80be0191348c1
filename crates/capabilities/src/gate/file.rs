//! Plans as people and Agents write them: `loom.connector_plan/v1`.

use loom_domain::connector_plan::{CALLS_MAX, PlanFile, SCHEMA};
use loom_domain::{Code, Error, Result};
use loom_secrets::find_secret_in_input;
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::config::refuse_secrets;
use crate::{ConnectorConfig, read_document};

/// Characters of a note or an objective.
const NOTE_CHARS_MAX: usize = 400;
/// Characters of the name of a note.
const NAME_CHARS_MAX: usize = 48;
/// Most notes, with the objective.
const NOTES_MAX: usize = 16;

/// Reads a plan, or the configuration of one run.
pub fn parse_plan(text: &str) -> Result<PlanFile> {
    let document = read_document(text)?;
    if document.get("schema_version").is_some_and(|name| name == "loom.connector_config/v1") {
        return Ok(PlanFile::of(ConnectorConfig::parse(text)?.order()));
    }
    refuse_secrets(&document, &mut String::new())?;
    let plan = PlanFile::deserialize(&document).map_err(|error| {
        Error::new(Code::InvalidInput, format!("the plan: {error}")).with_detail("pointer", "")
    })?;
    check_plan(&plan)?;
    Ok(plan)
}

/// Checks what does not depend on any connector.
pub fn check_plan(plan: &PlanFile) -> Result<()> {
    let wrong =
        |pointer: &str, why: String| Error::new(Code::InvalidInput, why).with_detail("pointer", pointer);
    if plan.schema_version != SCHEMA {
        return Err(wrong("/schema_version", format!("schema_version must be {SCHEMA}")));
    }
    if plan.calls.is_empty() || plan.calls.len() > CALLS_MAX {
        return Err(wrong("/calls", format!("a plan has 1 to {CALLS_MAX} calls")));
    }
    let objective = plan.objective.iter().map(|text| ("objective", text));
    check_notes(objective.chain(plan.notes.iter().map(|(name, text)| (name.as_str(), text))))?;
    let calls = serde_json::to_value(&plan.calls).map_err(Error::internal)?;
    refuse_secrets(&calls, &mut "/calls".to_owned())
}

/// Refuses remarks that are too long or hold a secret.
fn check_notes<'a>(notes: impl Iterator<Item = (&'a str, &'a String)>) -> Result<()> {
    for (at, (name, text)) in notes.enumerate() {
        let pointer = format!("/{name}");
        if at >= NOTES_MAX || name.chars().count() > NAME_CHARS_MAX || text.chars().count() > NOTE_CHARS_MAX {
            let why = format!(
                "at most {NOTES_MAX} notes of {NOTE_CHARS_MAX} characters, under names of {NAME_CHARS_MAX}"
            );
            return Err(Error::new(Code::InvalidInput, why).with_detail("pointer", pointer));
        }
        if let Some(rule) = find_secret_in_input(text) {
            return Err(Error::new(Code::SecretInInput, format!("the note {name} holds a secret"))
                .with_detail("rule", rule.id())
                .with_detail("pointer", pointer));
        }
    }
    Ok(())
}

/// The schema of a plan as it is written.
pub(crate) fn form() -> Value {
    let text = |most: usize| json!({"type": "string", "maxLength": most});
    let words = json!({"type": "object", "additionalProperties": text(NOTE_CHARS_MAX)});
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object", "additionalProperties": false, "required": ["calls"],
        "properties": {
            "schema_version": {"const": SCHEMA}, "id": text(40), "objective": text(NOTE_CHARS_MAX), "notes": words,
            "calls": {"type": "array", "minItems": 1, "maxItems": CALLS_MAX, "items": {
                "type": "object", "additionalProperties": false, "required": ["connector"],
                "properties": {
                    "call_id": {"type": "string", "pattern": "^[a-z0-9-]{1,48}$"}, "connector": text(97),
                    "operation": text(48), "input": {"type": "object"}, "credential_refs": words, "api_url": text(300),
                    "limits": {"type": "object"}, "sender_identity": text(200), "idempotency_key": text(200),
                },
            }},
        },
    })
}
