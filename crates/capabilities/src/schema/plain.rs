//! A quick yes: most inputs are flat objects of plain members, and the rules of those are few.

use serde_json::{Map, Number, Value};

/// Beyond it a 64-bit float does not hold every whole number.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// Whether the value surely keeps the schema. A no says nothing: the whole validator decides.
pub(super) fn surely_keeps(schema: &Value, value: &Value) -> bool {
    let Some(rules) = schema.as_object() else { return false };
    rules.iter().all(|(rule, wanted)| match (rule.as_str(), value) {
        ("$schema" | "title" | "description" | "default" | "examples" | "format", _) => true,
        ("type", _) => wanted.as_str().is_some_and(|kind| is_kind(kind, value)),
        ("enum", _) => wanted.as_array().is_some_and(|words| words.contains(value)),
        ("minLength" | "maxLength", Value::String(text)) => is_within(rule, wanted, text.chars().count()),
        ("minItems" | "maxItems", Value::Array(items)) => is_within(rule, wanted, items.len()),
        ("minimum" | "maximum", Value::Number(number)) => is_in_range(rule, wanted, number),
        ("items", Value::Array(items)) => items.iter().all(|item| surely_keeps(wanted, item)),
        ("properties" | "additionalProperties" | "required", Value::Object(members)) => {
            holds_members(rule, wanted, rules, members)
        }
        _ => false,
    })
}

fn is_kind(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

fn is_within(rule: &str, wanted: &Value, count: usize) -> bool {
    let count = u64::try_from(count).ok();
    let (Some(limit), Some(count)) = (wanted.as_u64(), count) else { return false };
    if rule.starts_with("min") { count >= limit } else { count <= limit }
}

fn is_in_range(rule: &str, wanted: &Value, number: &Number) -> bool {
    let (Some(limit), Some(number)) = (wanted.as_f64(), number.as_f64()) else { return false };
    let is_exact = limit.abs() < WHOLE_MAX && number.abs() < WHOLE_MAX;
    is_exact && if rule == "minimum" { number >= limit } else { number <= limit }
}

fn holds_members(
    rule: &str,
    wanted: &Value,
    rules: &Map<String, Value>,
    members: &Map<String, Value>,
) -> bool {
    match rule {
        "properties" => members
            .iter()
            .all(|(name, member)| wanted.get(name).is_some_and(|schema| surely_keeps(schema, member))),
        // Members are known when `properties` holds.
        "additionalProperties" => wanted == false && (members.is_empty() || rules.contains_key("properties")),
        _ => wanted.as_array().is_some_and(|names| {
            names.iter().all(|name| name.as_str().is_some_and(|name| members.contains_key(name)))
        }),
    }
}

#[cfg(test)]
mod tests;
