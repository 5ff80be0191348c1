//! The desktop keychain: Secret Service over D-Bus, with an encrypted session.

use std::collections::HashMap;
use std::time::Duration;

use keyring_core::Error as KeychainError;
use keyring_core::api::CredentialStoreApi;
use loom_domain::{Error, Result};
use zbus_secret_service_keyring_store::Store;

use super::fields::Lookup;
use super::unavailable;
use crate::{CredentialRef, Kind, Secret};

/// Why the keychain gave nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    NoKeychain,
    Locked,
}

impl Refusal {
    fn reason(self) -> &'static str {
        match self {
            Refusal::NoKeychain => "no_keychain",
            Refusal::Locked => "locked",
        }
    }
}

/// Reads the fields with the attributes `{service, account: FIELD}`.
pub(super) async fn read(
    reference: &CredentialRef,
    service: &str,
    kind: Kind,
    timeout: Duration,
) -> Result<Lookup> {
    let refused = |refusal: Refusal| unavailable(reference, None, refusal.reason());
    let connect = tokio::task::spawn_blocking(Store::new);
    let store = match tokio::time::timeout(timeout, connect).await {
        Ok(joined) => joined.map_err(Error::internal)?.map_err(|_| refused(Refusal::NoKeychain))?,
        Err(_) => return Err(refused(Refusal::NoKeychain)),
    };
    let service = service.to_owned();
    let search = tokio::task::spawn_blocking(move || search(&store, &service, kind));
    match tokio::time::timeout(timeout, search).await {
        Ok(joined) => joined.map_err(Error::internal)?.map_err(refused),
        // The service waits for its owner to unlock it.
        Err(_) => Err(refused(Refusal::Locked)),
    }
}

fn search(store: &Store, service: &str, kind: Kind) -> std::result::Result<Lookup, Refusal> {
    let mut found = Lookup::new();
    for field in kind.fields() {
        let attributes = HashMap::from([("service", service), ("account", *field)]);
        let entries = store.search(&attributes).map_err(|error| refusal(&error))?;
        let Some(entry) = entries.first() else { continue };
        match entry.get_password() {
            Ok(value) => {
                found.insert((*field).to_owned(), Secret::new(value));
            }
            Err(KeychainError::NoEntry) => {}
            Err(error) => return Err(refusal(&error)),
        }
    }
    Ok(found)
}

fn refusal(error: &KeychainError) -> Refusal {
    match error {
        KeychainError::NoStorageAccess(_) => Refusal::Locked,
        _ => Refusal::NoKeychain,
    }
}
