//! Validation of documents that come in.

use loom_domain::{Code, Error, Result};
use serde_json::Value;

use super::plain::surely_keeps;

/// Fails with `invalid_input` and a pointer at the first rule that the value breaks.
pub(crate) fn check(schema: &Value, value: &Value) -> Result<()> {
    if surely_keeps(schema, value) {
        return Ok(());
    }
    let validator = compiled(schema)?;
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

/// A rule that a value breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broken {
    /// Where: at an unknown key itself.
    pub(crate) pointer: String,
    /// Whether a key is not known.
    pub(crate) is_unknown_key: bool,
    /// What is wrong, without the value.
    pub(crate) message: String,
}

/// Every rule that the value breaks, at most so many. Each unknown key is named with the nearest known one.
pub(crate) fn broken(schema: &Value, value: &Value, most: usize) -> Result<Vec<Broken>> {
    let validator = compiled(schema)?;
    let mut all = Vec::new();
    for fault in validator.iter_errors(value).take(most) {
        let (pointer, path) = (fault.instance_path().to_string(), fault.schema_path().to_string());
        if rule(&path) == "additionalProperties" {
            all.extend(unknown_keys(schema, value, &pointer, &path));
            continue;
        }
        let message = match (rule(&path), holder(schema, &path)) {
            ("required", holder) => missing(holder, value.pointer(&pointer)),
            (rule, Some(holder)) => format!("breaks the rule {rule}{}", wanted(holder.get(rule))),
            (rule, None) => format!("breaks the rule {rule}"),
        };
        all.push(Broken { pointer, is_unknown_key: false, message });
    }
    all.truncate(most);
    Ok(all)
}

/// Fails when a schema is none; nothing is fetched for it.
pub(crate) fn compiled(schema: &Value) -> Result<jsonschema::Validator> {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .build(schema)
        .map_err(|error| Error::internal(format!("a schema is broken: {error}")))
}

/// The part of the schema that holds the rule at a path, through its references.
fn holder<'a>(schema: &'a Value, path: &str) -> Option<&'a Value> {
    let (path, _) = path.rsplit_once('/')?;
    let mut at = schema;
    for step in path.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")) {
        at = match (step.as_str(), at) {
            ("$ref", _) => {
                let target = at.get("$ref")?.as_str()?.strip_prefix('#')?;
                schema.pointer(target)?
            }
            (step, Value::Array(items)) => items.get(step.parse::<usize>().ok()?)?,
            (step, other) => other.get(step)?,
        };
    }
    Some(at)
}

fn missing(holder: Option<&Value>, value: Option<&Value>) -> String {
    let names = holder.and_then(|holder| holder.get("required")).and_then(Value::as_array);
    let absent = names.into_iter().flatten().filter_map(Value::as_str);
    let absent: Vec<&str> =
        absent.filter(|name| value.is_none_or(|value| value.get(name).is_none())).collect();
    format!("is missing {}", absent.join(", "))
}

fn wanted(rule: Option<&Value>) -> String {
    match rule {
        Some(wanted @ (Value::Number(_) | Value::String(_) | Value::Array(_))) => format!(" ({wanted})"),
        _ => String::new(),
    }
}

fn unknown_keys(schema: &Value, value: &Value, pointer: &str, path: &str) -> Vec<Broken> {
    let known = holder(schema, path).and_then(|holder| holder.get("properties")).and_then(Value::as_object);
    let names = || known.into_iter().flatten().map(|(name, _)| name.as_str());
    let given = value.pointer(pointer).and_then(Value::as_object);
    let given = given.into_iter().flatten().map(|(key, _)| key);
    let unknown = given.filter(|key| !known.is_some_and(|known| known.contains_key(*key)));
    unknown
        .map(|key| {
            let near = crate::catalog::nearest_words(key, names());
            let hint = match near.first() {
                Some(near) => format!("did you mean {near}?"),
                None => format!("known are {}", names().collect::<Vec<_>>().join(", ")),
            };
            let shown: String = key.chars().take(40).collect();
            let step = key.replace('~', "~0").replace('/', "~1");
            Broken {
                pointer: format!("{pointer}/{step}"),
                is_unknown_key: true,
                message: format!("unknown key {shown}; {hint}"),
            }
        })
        .collect()
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
