//! The schema of the inputs, and the resources in it.

use serde_json::Value;

use super::Faults;
use crate::declared::map::SourceFile;
use crate::declared::places::below;
use crate::schema;

/// Deepest schema of an input.
const DEPTH_MAX: usize = 8;
/// Words that would fetch or name another document.
const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$id", "$schema", "$anchor", "$defs"];

pub(super) fn check(map: &SourceFile, faults: &mut Faults) {
    let inputs = &map.inputs;
    if inputs.get("type").and_then(Value::as_str) != Some("object") {
        faults.add("/inputs", "inputs", "inputs is a JSON Schema of type object");
    }
    limits(inputs, "/inputs".to_owned(), 0, faults);
    if let Err(error) = schema::compiled(inputs) {
        faults.add("/inputs", "inputs", error.message);
    }
    let names = inputs.get("properties").and_then(Value::as_object);
    for name in names.into_iter().flatten().map(|(name, _)| name) {
        let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if !plain {
            faults.add(below("/inputs/properties", name), "inputs", "names of inputs are a-z, 0-9 and _");
        }
    }
    for (key, pointer) in &map.resources {
        let name = pointer.strip_prefix('/').filter(|name| !name.contains('/'));
        if name.is_none_or(|name| names.is_none_or(|names| !names.contains_key(name))) {
            faults.add(below("/resources", key), "resource", format!("{pointer} points to no input"));
        }
    }
}

/// Objects are closed, and texts and lists have a limit (3.2).
fn limits(schema: &Value, pointer: String, depth: usize, faults: &mut Faults) {
    let Some(members) = schema.as_object() else { return };
    if depth > DEPTH_MAX {
        faults.add(pointer, "inputs", "the schema is too deep");
        return;
    }
    if let Some(word) = REFERENCES.iter().find(|word| members.contains_key(**word)) {
        faults.add(below(&pointer, word), "inputs", format!("{word} cannot stand in the schema of inputs"));
    }
    let has = |key: &str| members.contains_key(key);
    match members.get("type").and_then(Value::as_str) {
        Some("string") if !has("maxLength") && !has("enum") && !has("const") => {
            faults.add(&pointer, "inputs", "a string needs maxLength or enum");
        }
        Some("array") if !has("maxItems") => faults.add(&pointer, "inputs", "an array needs maxItems"),
        Some("object") if members.get("additionalProperties") != Some(&Value::Bool(false)) => {
            faults.add(&pointer, "inputs", "an object needs additionalProperties: false");
        }
        Some(_) => {}
        None if has("enum") || has("const") => {}
        None => faults.add(&pointer, "inputs", "every value needs one type"),
    }
    if let Some(items) = members.get("items") {
        limits(items, format!("{pointer}/items"), depth + 1, faults);
    }
    let properties = members.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        limits(property, below(&format!("{pointer}/properties"), name), depth + 1, faults);
    }
}
