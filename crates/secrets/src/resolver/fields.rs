//! From what a source holds to the fields of a kind.

use std::collections::BTreeMap;

use loom_domain::Result;

use super::unavailable;
use crate::{CredentialRef, Fields, Kind, Secret};

/// Values by field name.
pub(super) type Lookup = BTreeMap<String, Secret>;

/// Reads a JSON object of fields, or a bare value for the kind's main field.
pub(super) fn from_text(reference: &CredentialRef, kind: Kind, text: &Secret) -> Result<Fields> {
    let trimmed = text.expose().trim();
    if trimmed.is_empty() {
        return Err(unavailable(reference, None, "missing"));
    }
    if let Ok(object) = serde_json::from_str::<BTreeMap<String, String>>(trimmed) {
        let found = object.into_iter().map(|(name, value)| (name, Secret::new(value))).collect();
        return from_lookup(reference, kind, &found);
    }
    let mut found = Lookup::new();
    found.insert(kind.main_field().to_owned(), Secret::new(trimmed));
    from_lookup(reference, kind, &found)
}

/// Keeps the fields of the kind.
pub(super) fn from_lookup(reference: &CredentialRef, kind: Kind, found: &Lookup) -> Result<Fields> {
    if found.is_empty() {
        return Err(unavailable(reference, None, "missing"));
    }
    let mut fields = Fields::default();
    for name in kind.fields() {
        if let Some(value) = found.get(*name).filter(|value| !value.is_empty()) {
            fields.insert(*name, value.clone());
        }
    }
    Ok(fields)
}
