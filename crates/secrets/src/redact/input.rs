//! Secrets that were typed where none may stand.

use super::patterns::Hits;
use super::anchors;
use crate::{CredentialRef, Profile, Rule};

/// Names the rule of a token in an argument or document. Credential references are exempt.
pub fn find_secret_in_input(text: &str) -> Option<Rule> {
    let mut hits = Hits::default();
    anchors::find(text.as_bytes(), Profile::Store, &mut hits);
    let rule = hits.list.iter().map(|hit| hit.rule).find(|rule| rule.is_token())?;
    let reference = text.contains(':') && is_reference(text);
    (!reference).then_some(rule)
}

/// `CredentialRef::parse` looks at names with this module, so only whole references of other kinds count.
fn is_reference(text: &str) -> bool {
    matches!(CredentialRef::parse(text), Ok(CredentialRef::File(_) | CredentialRef::Keychain(_)))
}
