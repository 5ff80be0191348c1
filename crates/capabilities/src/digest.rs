//! Digests over RFC 8785 canonical JSON.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// The RFC 8785 canonical text of a value.
pub fn canonical<T: Serialize>(value: &T) -> String {
    serde_json_canonicalizer::to_string(value)
        .expect("documents of this crate have string keys and finite numbers")
}

/// `sha256:` and 64 hex digits of the canonical text.
pub fn sha256_of<T: Serialize>(value: &T) -> String {
    sha256_of_bytes(canonical(value))
}

/// `sha256:` and 64 hex digits of raw bytes.
pub fn sha256_of_bytes(bytes: impl AsRef<[u8]>) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(bytes)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The examples of RFC 8785: numbers as ECMAScript writes them, keys by UTF-16 units.
    #[test]
    fn canonical_json_is_that_of_rfc_8785() {
        let numbers: Value = serde_json::from_str("[333333333.33333329, 1E30, 4.50, 2e-3, 1e-27]").unwrap();
        assert_eq!(canonical(&numbers), "[333333333.3333333,1e+30,4.5,0.002,1e-27]");
        let keys = json!({"\u{20ac}": 1, "\r": 2, "1": 3, "\u{1f600}": 4, "\u{fb33}": 5, "\u{80}": 6});
        let order: Vec<usize> = ["\\r", "\"1\"", "\u{80}", "\u{20ac}", "\u{1f600}", "\u{fb33}"]
            .map(|key| canonical(&keys).find(key).unwrap())
            .into();
        assert!(order.is_sorted(), "{order:?}");
    }

    #[test]
    fn equal_values_have_equal_digests() {
        let (a, b) = (json!({"b": 1.0, "a": [null]}), json!({"a": [null], "b": 1}));
        assert_eq!(sha256_of(&a), sha256_of(&b));
        assert_eq!(
            sha256_of_bytes(""),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
