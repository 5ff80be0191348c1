//! Reads a draft of policy: whole records as they would be. A key that nothing reads is refused.

use loom_domain::{Code, Error};
use loom_store::ops::policy::PolicyDraft;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// The keys of a draft.
const KEYS: [&str; 3] = ["connections", "addresses", "memberships"];

/// Reads a draft; an absent one changes nothing.
pub(super) fn draft_of(draft: Option<Value>) -> Result<PolicyDraft, Error> {
    let draft = match draft {
        None | Some(Value::Null) => return Ok(PolicyDraft::default()),
        Some(Value::Object(draft)) => draft,
        Some(_) => {
            return Err(Error::invalid("draft", format!("expected an object with {}", KEYS.join(", "))));
        }
    };
    if let Some(key) = draft.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(unknown(key));
    }
    let draft = Value::Object(draft);
    Ok(PolicyDraft {
        connections: records(&draft, "connections")?,
        addresses: records(&draft, "addresses")?,
        memberships: records(&draft, "memberships")?,
    })
}

fn unknown(key: &str) -> Error {
    Error::new(Code::UnknownField, format!("a draft has no key `{}`", key.escape_debug()))
        .with_hint(format!("A draft holds lists of whole records under {}.", KEYS.join(", ")))
        .with_detail("field", key)
}

fn records<T: DeserializeOwned + Serialize>(draft: &Value, name: &str) -> Result<Vec<T>, Error> {
    let Some(given) = draft.get(name) else { return Ok(Vec::new()) };
    let records: Vec<T> = serde_json::from_value(given.clone())
        .map_err(|cause| Error::invalid("draft", format!("`{name}` is no list of whole records: {cause}")))?;
    let read = serde_json::to_value(&records).map_err(Error::internal)?;
    match unread(given, &read) {
        Some(key) => {
            Err(Error::new(Code::UnknownField, format!("`{name}` have no key `{}`", key.escape_debug()))
                .with_detail("field", key))
        }
        None => Ok(records),
    }
}

/// The first key of a document that its record does not have.
fn unread<'a>(given: &'a Value, read: &Value) -> Option<&'a str> {
    match (given, read) {
        (Value::Object(given), Value::Object(read)) => given
            .iter()
            .find_map(|(key, value)| read.get(key).map_or(Some(key.as_str()), |read| unread(value, read))),
        (Value::Array(given), Value::Array(read)) => {
            given.iter().zip(read).find_map(|(given, read)| unread(given, read))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_that_nothing_reads_are_refused() {
        let connection = json!({
            "id": "con_01arz3ndektsv4rrffq69g5fav", "version": 1, "seq": 1, "provider": "slack",
            "accountRef": "A0", "scopeRef": "T1", "brand": null, "credentialRef": "env:X", "apiUrl": null,
            "proxyUrl": null, "allowHttp": false, "gatewayMode": "external", "capabilities": ["receive_events"],
            "enabled": true, "supersededBy": null, "archivedAt": null, "firstConnectedAt": null,
            "createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-01T00:00:00.000Z",
        });
        let mut odd = connection.clone();
        odd["nonsense"] = json!(1);
        assert_eq!(draft_of(Some(json!({"connections": [connection]}))).unwrap().connections.len(), 1);
        for (draft, code) in [
            (json!({"membership": []}), Code::UnknownField),
            (json!({"connections": [odd]}), Code::UnknownField),
            (json!({"connections": [{"id": "con_x"}]}), Code::InvalidArgument),
            (json!([]), Code::InvalidArgument),
        ] {
            assert_eq!(draft_of(Some(draft.clone())).unwrap_err().code, code, "{draft}");
        }
        assert!(draft_of(None).unwrap().connections.is_empty());
    }
}
