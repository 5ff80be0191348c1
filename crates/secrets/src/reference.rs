//! Where a secret is kept: the only form of a credential in configuration, database and output.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use loom_domain::{Code, Error, Result};
use serde::{Deserialize, Serialize};

use crate::find_secret_in_input;

/// Longest text of a reference.
pub const CREDENTIAL_REF_BYTES_MAX: usize = 256;
/// An unknown word at least this long, with letters and digits, is taken for a pasted secret.
const PASTED_BYTES_MIN: usize = 16;

/// Names a secret without holding it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum CredentialRef {
    /// Environment variable of the hub.
    Env(String),
    /// Service name in the desktop keychain.
    Keychain(String),
    /// Entry of Loom's vault.
    Vault(String),
    /// Absolute path of a private file.
    File(PathBuf),
}

impl CredentialRef {
    /// Reads `env:NAME`, `keychain:SERVICE`, `vault:NAME` or `file:PATH`. Errors never repeat the text.
    pub fn parse(text: &str) -> Result<Self> {
        if text.len() > CREDENTIAL_REF_BYTES_MAX {
            return Err(refused(&format!("is longer than {CREDENTIAL_REF_BYTES_MAX} bytes")));
        }
        let Some((scheme, name)) = text.split_once(':').filter(|(s, _)| is_scheme(s)) else {
            return Err(if looks_pasted(text) { pasted() } else { refused("has an unknown form") });
        };
        if find_secret_in_input(name).is_some() {
            return Err(pasted());
        }
        match scheme {
            "env" if is_variable(name) => Ok(CredentialRef::Env(name.to_owned())),
            "env" => Err(refused("does not name a variable")),
            "keychain" if is_plain(name) => Ok(CredentialRef::Keychain(name.to_owned())),
            "keychain" => Err(refused("does not name a keychain service")),
            "vault" if is_entry_name(name) => Ok(CredentialRef::Vault(name.to_owned())),
            "vault" => Err(refused("does not name a vault entry ([A-Za-z0-9._/-], up to 128)")),
            _ if Path::new(name).is_absolute() && is_plain(name) => Ok(CredentialRef::File(name.into())),
            _ => Err(refused("does not name a file by its absolute path")),
        }
    }
}

fn is_scheme(text: &str) -> bool {
    matches!(text, "env" | "keychain" | "vault" | "file")
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.chars().any(char::is_control)
}

/// Whether the text may name a vault entry.
pub(crate) fn is_entry_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'/' | b'-'))
}

fn looks_pasted(text: &str) -> bool {
    let mixed = text.bytes().any(|b| b.is_ascii_digit()) && text.bytes().any(|b| b.is_ascii_alphabetic());
    find_secret_in_input(text).is_some() || (text.len() >= PASTED_BYTES_MIN && mixed && !text.contains(':'))
}

fn pasted() -> Error {
    Error::new(Code::SecretInInput, "a literal secret was given where a credential reference must stand")
        .with_detail("field", "credential_ref")
}

fn refused(why: &str) -> Error {
    Error::invalid("credential_ref", format!("the reference {why}"))
        .with_hint("use env:NAME, keychain:SERVICE, vault:NAME or file:PATH")
}

impl fmt::Display for CredentialRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CredentialRef::Env(name) => write!(f, "env:{name}"),
            CredentialRef::Keychain(name) => write!(f, "keychain:{name}"),
            CredentialRef::Vault(name) => write!(f, "vault:{name}"),
            CredentialRef::File(path) => write!(f, "file:{}", path.display()),
        }
    }
}

impl FromStr for CredentialRef {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

impl TryFrom<String> for CredentialRef {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        Self::parse(&text)
    }
}

impl From<CredentialRef> for String {
    fn from(reference: CredentialRef) -> Self {
        reference.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_11_references_keep_their_text() {
        for text in ["env:SLACK", "keychain:loom slack", "vault:team/bot.1", "file:/srv/keys/a b"] {
            let parsed = CredentialRef::parse(text).unwrap();
            assert_eq!(parsed.to_string(), text);
            assert_eq!(serde_json::to_value(&parsed).unwrap(), text);
            assert_eq!(serde_json::from_value::<CredentialRef>(text.into()).unwrap(), parsed);
        }
    }

    #[test]
    fn id_11_bad_references_are_invalid_arguments() {
        let long = format!("vault:{}", "a".repeat(300));
        for text in ["", "env:", "env:1A", "env:A-B", "vault:a b", "file:relative", "other:x", &long] {
            assert_eq!(CredentialRef::parse(text).unwrap_err().code, Code::InvalidArgument, "{text}");
        }
    }

    #[test]
    fn msg_024_a_pasted_token_is_refused_without_an_echo() {
        let github = format!("ghp_{}", "a1B2".repeat(9));
        for text in [github.clone(), format!("env:{github}"), "9f8e7d6c5b4a39281706".to_owned()] {
            let error = CredentialRef::parse(&text).unwrap_err();
            assert_eq!(error.code, Code::SecretInInput);
            let shown = format!("{error} {error:?} {}", serde_json::to_string(&error).unwrap());
            assert!(!shown.contains(&text) && !shown.contains("a1B2a1B2"));
        }
    }
}
