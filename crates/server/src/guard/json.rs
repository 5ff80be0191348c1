//! Part of guard 9: JSON is well formed, not deep, and has no key twice, before any handler reads it.

use std::collections::HashSet;
use std::fmt;

use loom_domain::{Code, Error};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// Checks a document without keeping it.
pub(super) fn check(bytes: &[u8], depth_max: usize) -> Result<(), Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let checked =
        Checked { depth_left: depth_max }.deserialize(&mut deserializer).and_then(|()| deserializer.end());
    checked.map_err(|error| {
        // The parser's text may quote the document, so only the two own sentences and the place are passed on.
        let text = error.to_string();
        let why = [DEEP, TWICE]
            .into_iter()
            .find(|own| text.starts_with(own))
            .unwrap_or("the body is not valid JSON");
        Error::new(Code::InvalidJson, why)
            .with_detail("line", error.line())
            .with_detail("column", error.column())
    })
}

const DEEP: &str = "the document is nested too deeply";
const TWICE: &str = "an object has a key twice";

#[derive(Clone, Copy)]
struct Checked {
    depth_left: usize,
}

impl Checked {
    fn inner<E: serde::de::Error>(self) -> Result<Checked, E> {
        self.depth_left.checked_sub(1).map(|depth_left| Checked { depth_left }).ok_or_else(|| E::custom(DEEP))
    }
}

impl<'de> DeserializeSeed<'de> for Checked {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let inner = self.inner()?;
        while items.next_element_seed(inner)?.is_some() {}
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let inner = self.inner()?;
        let mut keys = HashSet::new();
        while let Some(key) = members.next_key::<String>()? {
            if !keys.insert(key) {
                return Err(A::Error::custom(TWICE));
            }
            members.next_value_seed(inner)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(text: &str) -> String {
        check(text.as_bytes(), 32).map_or_else(|error| error.message, |()| String::new())
    }

    /// ATK-11: depth and doubled keys, also when a key is written with escapes.
    #[test]
    fn atk_11_depth_and_doubled_keys() {
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(why(&nested(32)), "");
        assert_eq!(why(&nested(33)), DEEP);
        assert_eq!(why(&"[".repeat(100_000)), DEEP);
        assert_eq!(why(&"{\"a\":".repeat(100_000)), DEEP);
        assert_eq!(why(r#"{"a":1,"a":2}"#), TWICE);
        assert_eq!(why(r#"{"x":{"a":1,"\u0061":2}}"#), TWICE);
        assert_eq!(why(r#"[{"a":1},{"a":2}]"#), "");
        for bad in ["", "{", "{}{}", "[1,]", "nul", "\u{feff}{}"] {
            assert_ne!(why(bad), "", "{bad}");
        }
    }
}
