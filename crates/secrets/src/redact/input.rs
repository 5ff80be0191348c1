//! Secrets that were typed where none may stand.

use super::anchors;
use super::patterns::Hits;
use crate::{CredentialRef, Profile, Rule};

/// Names the rule of a token in an argument or document. Credential references are exempt.
pub fn find_secret_in_input(text: &str) -> Option<Rule> {
    let mut hits = Hits::default();
    anchors::find(text.as_bytes(), Profile::Store, &mut hits);
    let rule = hits.list.iter().map(|hit| hit.rule).find(|rule| rule.is_token())?;
    let reference = (text.starts_with("keychain:") || text.starts_with("file:")) && is_reference(text);
    (!reference).then_some(rule)
}

/// `CredentialRef::parse` looks at text without a scheme with this module again; the caller asks only for text with one.
fn is_reference(text: &str) -> bool {
    matches!(CredentialRef::parse(text), Ok(CredentialRef::File(_) | CredentialRef::Keychain(_)))
}
