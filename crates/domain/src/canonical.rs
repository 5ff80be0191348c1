//! Canonical JSON: no white space, keys sorted by bytes, so that equal values have equal digests.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The canonical text of a value.
#[must_use]
pub fn to_string(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// Hex SHA-256 of the canonical text.
#[must_use]
pub fn sha256_hex(value: &Value) -> String {
    hex::encode(Sha256::digest(to_string(value)))
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut members: Vec<_> = map.iter().collect();
            members.sort_by(|a, b| a.0.cmp(b.0));
            out.push('{');
            for (n, (key, member)) in members.into_iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                write(member, out);
            }
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_order_and_space_do_not_matter() {
        let a: Value = serde_json::from_str(r#"{"b":[1,{"y":null,"x":"é\n"}],"a":true}"#).unwrap();
        let b: Value = serde_json::from_str(r#"{ "a": true, "b": [1, {"x":"é\n","y":null}] }"#).unwrap();
        assert_eq!(to_string(&a), r#"{"a":true,"b":[1,{"x":"é\n","y":null}]}"#);
        assert_eq!(sha256_hex(&a), sha256_hex(&b));
        assert_eq!(serde_json::from_str::<Value>(&to_string(&a)).unwrap(), a);
    }
}
