//! Validation of documents that come in.

use loom_domain::{Code, Error, Result};
use serde_json::Value;

/// Fails with `invalid_input` and a pointer at the first rule that the value breaks.
pub(crate) fn check(schema: &Value, value: &Value) -> Result<()> {
    let validator = jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .build(schema)
        .map_err(|error| Error::internal(format!("a schema is broken: {error}")))?;
    let Some(fault) = validator.iter_errors(value).next() else { return Ok(()) };
    let pointer = fault.instance_path().to_string();
    // The text of the validator repeats the value, which may be anything.
    let message = match rule(&fault.schema_path().to_string()) {
        "additionalProperties" => {
            let path = fault.schema_path().to_string();
            let object = path.rsplit_once('/').and_then(|(object, _)| schema.pointer(object));
            unknown_key(object.unwrap_or(schema), value, &pointer)
        }
        rule => format!(
            "{}: breaks the rule {rule}{}",
            named(&pointer),
            expected(schema, &fault.schema_path().to_string())
        ),
    };
    Err(Error::new(Code::InvalidInput, message).with_detail("pointer", pointer))
}

fn named(pointer: &str) -> &str {
    if pointer.is_empty() { "the input" } else { pointer }
}

/// The last word of a path into the schema.
fn rule(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// What the broken rule asks for.
fn expected(schema: &Value, path: &str) -> String {
    match schema.pointer(path) {
        Some(wanted @ (Value::Number(_) | Value::String(_) | Value::Array(_))) => format!(" ({wanted})"),
        _ => String::new(),
    }
}

fn unknown_key(schema: &Value, value: &Value, pointer: &str) -> String {
    let known = schema.get("properties").and_then(Value::as_object);
    let given = value.pointer(pointer).and_then(Value::as_object);
    let mut unknown = given.into_iter().flatten().map(|(key, _)| key);
    let unknown = unknown.find(|key| !known.is_some_and(|known| known.contains_key(*key)));
    let known: Vec<&str> = known.into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    let unknown = unknown.map(|key| key.chars().take(40).collect::<String>()).unwrap_or_default();
    format!("{}: unknown key `{unknown}`; known are {}", named(pointer), known.join(", "))
}
