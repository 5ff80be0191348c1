//! Writes YAML of one form: keys sorted, block style, texts quoted as in JSON, LF.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// A mapping as a document.
pub(crate) fn document(members: &Map<String, Value>) -> String {
    let mut out = String::new();
    mapping(&mut out, members, 0);
    out
}

fn mapping(out: &mut String, members: &Map<String, Value>, depth: usize) {
    let mut names: Vec<&String> = members.keys().collect();
    names.sort_unstable();
    for name in names {
        indent(out, depth);
        out.push_str(&key(name));
        out.push(':');
        if let Some(value) = members.get(name) {
            node(out, value, depth);
        }
    }
}

fn node(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            out.push('\n');
            mapping(out, members, depth + 1);
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            for item in items {
                indent(out, depth + 1);
                // Writing to a String cannot fail; JSON is YAML's flow style.
                let _ = writeln!(out, "- {item}");
            }
        }
        scalar => {
            let _ = writeln!(out, " {scalar}");
        }
    }
}

fn key(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if is_plain { name.to_owned() } else { Value::String(name.to_owned()).to_string() }
}

fn indent(out: &mut String, depth: usize) {
    (0..depth).for_each(|_| out.push_str("  "));
}

#[cfg(test)]
mod tests {
    use loom_capabilities::read_document;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let value = json!({
            "b": "yes", "a": {"z": [1, "two", {"three": null}], "y": {}}, "multi": "line\n# no comment: \"x\"",
            "empty": [], "n": null, "t": true, "odd key": "v", "num": 1.5, "zh": "频道",
        });
        let Value::Object(members) = &value else { panic!() };
        let text = document(members);
        assert!(text.starts_with("a:\n  y: {}\n  z:\n    - 1\n"), "{text}");
        assert_eq!(read_document(&text).unwrap(), value, "{text}");
    }
}
