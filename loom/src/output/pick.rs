//! Reads members of an answer; what is absent is empty.

use serde_json::Value;

/// The member at a dotted path.
pub(crate) fn value<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(object, |at, key| at.get(key)).filter(|found| !found.is_null())
}

/// The member as text; absent is empty.
pub(crate) fn text(object: &Value, path: &str) -> String {
    match value(object, path) {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(list)) => list.iter().map(plain).collect::<Vec<_>>().join(","),
        Some(other) => other.to_string(),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The member as text, or `-`.
pub(crate) fn dash(object: &Value, path: &str) -> String {
    Some(text(object, path)).filter(|text| !text.is_empty()).unwrap_or_else(|| "-".to_owned())
}

/// The member as a number; absent is 0.
pub(crate) fn number(object: &Value, path: &str) -> u64 {
    value(object, path).and_then(Value::as_u64).unwrap_or(0)
}

/// Gives an object a member.
pub(crate) fn put(object: &mut Value, key: &str, value: &Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(key.to_owned(), value.clone());
    }
}

/// Whether the member is true.
pub(crate) fn is(object: &Value, path: &str) -> bool {
    value(object, path).and_then(Value::as_bool).unwrap_or(false)
}

/// The member's entries.
pub(crate) fn list<'a>(object: &'a Value, path: &str) -> &'a [Value] {
    value(object, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A state word with its reason in brackets.
pub(crate) fn state(object: &Value, state: &str, reason: &str) -> String {
    match text(object, reason) {
        reason if reason.is_empty() || reason == "ok" => text(object, state),
        reason => format!("{}({reason})", text(object, state)),
    }
}
