//! What differs between two payloads: their facts, field by field.

use serde::Serialize;
use serde_json::Value;

/// Most differences that are listed.
const DIFFERENCES_MAX: usize = 1_000;

/// One field that differs; what is absent is null.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Where.
    pub pointer: String,
    /// Value in the first.
    pub a: Value,
    /// Value in the second.
    pub b: Value,
}

/// Differences of `fields` and `items`.
pub fn differences(a: &Value, b: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    for part in ["fields", "items"] {
        let of = |document: &Value| document.get(part).cloned().unwrap_or_default();
        walk(&of(a), &of(b), &format!("/{part}"), &mut found);
    }
    found.truncate(DIFFERENCES_MAX);
    found
}

fn walk(a: &Value, b: &Value, pointer: &str, found: &mut Vec<Difference>) {
    if a == b || found.len() >= DIFFERENCES_MAX {
        return;
    }
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            let keys: std::collections::BTreeSet<&String> = x.keys().chain(y.keys()).collect();
            for key in keys {
                let of =
                    |members: &serde_json::Map<String, Value>| members.get(key).cloned().unwrap_or_default();
                let step = key.replace('~', "~0").replace('/', "~1");
                walk(&of(x), &of(y), &format!("{pointer}/{step}"), found);
            }
        }
        (Value::Array(x), Value::Array(y)) => {
            for at in 0..x.len().max(y.len()) {
                let of = |items: &[Value]| items.get(at).cloned().unwrap_or_default();
                walk(&of(x), &of(y), &format!("{pointer}/{at}"), found);
            }
        }
        _ => found.push(Difference { pointer: pointer.to_owned(), a: a.clone(), b: b.clone() }),
    }
}
