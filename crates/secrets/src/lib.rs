//! Credential references, their resolution, checks of private files, and the redactor.
//!
//! It is not: a place that shows a value. Nothing here prints, serialises or displays one.
//! Invariant: every secret that leaves a [`Resolver`] is known to its [`Redactor`] first.

mod fields;
mod installation;
pub mod private_file;
mod redact;
mod reference;
mod resolver;
mod secret;
mod vault;

pub use fields::{Fields, Kind};
pub use installation::installation_key;
pub use redact::{Hit, Profile, RedactWriter, Redactor, Report, Rule, find_secret_in_input, secret_key};
pub use reference::{CREDENTIAL_REF_BYTES_MAX, CredentialRef};
pub use resolver::{Environment, Resolver};
pub use secret::{SECRET_BYTES_MIN, Secret};
pub use vault::{KeySource, VAULT_ENTRIES_MAX, VAULT_ENTRY_BYTES_MAX, Vault, VaultKeys};
