//! Turns a reference into values, at the moment of their use.

mod fields;
mod keychain;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use loom_domain::{Code, Error, Result};

use crate::private_file::read_private;
use crate::{CredentialRef, Fields, Kind, Redactor, SECRET_BYTES_MIN, Secret, Vault};
use fields::{Lookup, from_lookup, from_text};

/// The keychain is given so long to answer; a locked one waits for its owner.
const KEYCHAIN_TIMEOUT: Duration = Duration::from_secs(3);

/// Looks up an environment variable.
pub type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Resolves references. Whatever it hands out is known to its redactor.
#[derive(Clone)]
pub struct Resolver {
    redactor: Redactor,
    environment: Environment,
    vault: Option<Vault>,
    keychain_timeout: Duration,
}

impl std::fmt::Debug for Resolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resolver").field("vault", &self.vault.is_some()).finish_non_exhaustive()
    }
}

impl Resolver {
    /// Makes a resolver over an environment.
    pub fn new(redactor: Redactor, environment: Environment) -> Self {
        Resolver { redactor, environment, vault: None, keychain_timeout: KEYCHAIN_TIMEOUT }
    }

    /// Makes a resolver over the environment of this process.
    pub fn of_process(redactor: Redactor) -> Self {
        Resolver::new(redactor, Arc::new(|name| std::env::var(name).ok()))
    }

    /// Adds the vault.
    pub fn with_vault(mut self, vault: Vault) -> Self {
        self.vault = Some(vault);
        self
    }

    /// Replaces the time that the keychain has to answer.
    pub fn with_keychain_timeout(mut self, timeout: Duration) -> Self {
        self.keychain_timeout = timeout;
        self
    }

    /// The fields of the credential. Every one is registered with the redactor before it is returned.
    pub async fn resolve(&self, reference: &CredentialRef, kind: Kind) -> Result<Fields> {
        let fields = match reference {
            CredentialRef::Env(name) => self.in_environment(reference, name, kind)?,
            CredentialRef::File(path) => from_file(reference, path.clone(), kind).await?,
            CredentialRef::Vault(name) => self.in_vault(reference, name.clone(), kind).await?,
            CredentialRef::Keychain(service) => {
                let found = keychain::read(reference, service, kind, self.keychain_timeout).await?;
                from_lookup(reference, kind, &found)?
            }
        };
        self.admitted(reference, kind, fields)
    }

    /// One field of the credential.
    pub async fn resolve_field(&self, reference: &CredentialRef, kind: Kind, field: &str) -> Result<Secret> {
        let fields = self.resolve(reference, kind).await?;
        fields.get(field).cloned().ok_or_else(|| unavailable(reference, Some(field), "field_missing"))
    }

    fn in_environment(&self, reference: &CredentialRef, name: &str, kind: Kind) -> Result<Fields> {
        let read = |name: &str| (self.environment)(name).filter(|value| !value.is_empty()).map(Secret::new);
        if let Some(value) = read(name) {
            return from_text(reference, kind, &value);
        }
        let mut found = Lookup::new();
        for field in kind.fields() {
            if let Some(value) = read(&format!("{name}_{}", field.to_ascii_uppercase())) {
                found.insert((*field).to_owned(), value);
            }
        }
        from_lookup(reference, kind, &found)
    }

    async fn in_vault(&self, reference: &CredentialRef, name: String, kind: Kind) -> Result<Fields> {
        let vault = self.vault.clone().ok_or_else(|| unavailable(reference, None, "missing"))?;
        let found = blocking(move || vault.get(&name)).await?;
        let value = found.ok_or_else(|| unavailable(reference, None, "missing"))?;
        from_text(reference, kind, &value)
    }

    /// Refuses short values and registers the others.
    fn admitted(&self, reference: &CredentialRef, kind: Kind, fields: Fields) -> Result<Fields> {
        for field in kind.required() {
            if fields.get(field).is_none() {
                return Err(unavailable(reference, Some(field), "field_missing"));
            }
        }
        for (name, secret) in fields.iter().filter(|(name, _)| !Kind::is_public(name)) {
            if secret.len() < SECRET_BYTES_MIN {
                return Err(unavailable(reference, Some(name), "too_short"));
            }
            self.redactor.register(secret);
        }
        Ok(fields)
    }
}

async fn from_file(reference: &CredentialRef, path: std::path::PathBuf, kind: Kind) -> Result<Fields> {
    let value = blocking(move || read_text(&path)).await.map_err(|error| {
        let missing = error.code == Code::CredentialUnavailable;
        if missing { unavailable(reference, None, "missing") } else { error }
    })?;
    from_text(reference, kind, &value)
}

fn read_text(path: &Path) -> Result<Secret> {
    let bytes = read_private(path)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| {
        Error::new(Code::CredentialFileRefused, "the file is not UTF-8 text").with_detail("rule", "utf8")
    })?;
    Ok(Secret::new(text))
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
}

/// A `credential_unavailable` naming reference, field and reason.
fn unavailable(reference: &CredentialRef, field: Option<&str>, reason: &str) -> Error {
    let what = field.map_or_else(|| reference.to_string(), |field| format!("{reference} field {field}"));
    let why = match reason {
        "field_missing" => "the field is missing",
        "too_short" => "the value is shorter than 8 bytes",
        "locked" => "the store is locked",
        "no_keychain" => "no keychain answers",
        _ => "nothing is stored there",
    };
    let error = Error::new(Code::CredentialUnavailable, format!("{what}: {why}"))
        .with_detail("reason", reason)
        .with_detail("ref", reference.to_string());
    let error = if reason == "no_keychain" {
        error.with_hint(
            "no Secret Service is running here; keep the secret in the vault: `loom secret set NAME`",
        )
    } else {
        error
    };
    field.map_or(error.clone(), |field| error.with_detail("field", field))
}

#[cfg(test)]
mod tests;
