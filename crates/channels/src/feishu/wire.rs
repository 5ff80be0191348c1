//! Lenient access to the platform's JSON, and the forms of its ids.

use serde_json::Value;

/// Longest id, bytes.
const ID_BYTES_MAX: usize = 64;

/// A member that is a non-empty text.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// A member that is `true`.
pub(super) fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// A member that is a list; anything else counts as an empty one.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A time of the platform: milliseconds, written as text.
pub(super) fn time_ms(value: &Value, key: &str) -> Option<i64> {
    text(value, key)?.parse().ok()
}

/// Whether a text may stand in a path as an id.
pub(super) fn is_id(id: &str) -> bool {
    (1..=ID_BYTES_MAX).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Whether a text is the id of a message.
pub(super) fn is_message(id: &str) -> bool {
    id.starts_with("om_") && is_id(id)
}

/// Whether a text is the id of a thread.
pub(super) fn is_thread(id: &str) -> bool {
    id.starts_with("omt_") && is_id(id)
}

/// Kind of id that a conversation is addressed by.
pub(super) fn receive_id_type(conversation: &str) -> &'static str {
    match conversation.split_once('_') {
        Some(("ou", _)) => "open_id",
        Some(("on", _)) => "union_id",
        _ => "chat_id",
    }
}

/// The data of an answer.
pub(super) fn data(body: &Value) -> &Value {
    body.get("data").unwrap_or(&Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_stand_in_paths() {
        assert!(is_message("om_1aB") && is_thread("omt_1") && !is_message("omt_1") && !is_message("om"));
        for odd in ["", "om_1/../x", "om_1?x", "om 1", &"o".repeat(65)] {
            assert!(!is_id(odd), "{odd}");
        }
        assert_eq!(["oc_1", "ou_1", "on_1"].map(receive_id_type), ["chat_id", "open_id", "union_id"]);
    }
}
