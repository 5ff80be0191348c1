//! Loom's own store of secrets: one encrypted file under the home directory.
//!
//! A key file beside the vault protects copies of the vault, not the machine.

mod format;
mod key;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use loom_domain::{Code, Error, Result};

use crate::private_file::{
    PrivateFile, create_private, ensure_private_dir, write::sync_parent, write_private,
};
use crate::reference::is_entry_name;
use crate::{SECRET_BYTES_MIN, Secret};
use format::{Header, VAULT_BYTES_MAX};
pub use key::{KeySource, VaultKeys};

/// Most entries.
pub const VAULT_ENTRIES_MAX: usize = 1_000;
/// Largest value of an entry.
pub const VAULT_ENTRY_BYTES_MAX: usize = 64 * 1024;

type Entries = BTreeMap<String, Secret>;

/// The vault of one home directory. Calls block on the disk and on key derivation.
#[derive(Debug, Clone)]
pub struct Vault(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    directory: PathBuf,
    keys: VaultKeys,
    derived: Mutex<Option<key::Derived>>,
}

impl Vault {
    /// The vault in `secrets/` under the home directory, opened with one of the keys.
    pub fn new(home: &Path, keys: VaultKeys) -> Self {
        Vault(Arc::new(Inner { directory: home.join("secrets"), keys, derived: Mutex::new(None) }))
    }

    /// Names of the entries.
    pub fn list(&self) -> Result<Vec<String>> {
        Ok(self.read()?.map(|(_, entries)| entries.into_keys().collect()).unwrap_or_default())
    }

    /// The entry's value.
    pub fn get(&self, name: &str) -> Result<Option<Secret>> {
        Ok(self.read()?.and_then(|(_, mut entries)| entries.remove(name)))
    }

    /// Stores a value under the name, in the place of an older one.
    pub fn set(&self, name: &str, value: &Secret) -> Result<()> {
        if !is_entry_name(name) {
            return Err(Error::invalid("name", "a vault entry is named with up to 128 of [A-Za-z0-9._/-]"));
        }
        if value.len() > VAULT_ENTRY_BYTES_MAX {
            let message = format!("the value is larger than {VAULT_ENTRY_BYTES_MAX} bytes");
            return Err(Error::new(Code::TooLarge, message));
        }
        if value.len() < SECRET_BYTES_MIN {
            let message = format!("the value is shorter than {SECRET_BYTES_MIN} bytes");
            return Err(Error::new(Code::CredentialUnavailable, message).with_detail("reason", "too_short"));
        }
        self.change(|entries| {
            entries.insert(name.to_owned(), value.clone());
            if entries.len() > VAULT_ENTRIES_MAX {
                let message = format!("the vault holds at most {VAULT_ENTRIES_MAX} entries");
                return Err(Error::new(Code::TooMany, message));
            }
            Ok(())
        })
    }

    /// Removes the entry; tells whether there was one.
    pub fn remove(&self, name: &str) -> Result<bool> {
        let mut removed = false;
        self.change(|entries| {
            removed = entries.remove(name).is_some();
            Ok(())
        })?;
        Ok(removed)
    }

    /// The kind of key that opens the vault, when there is a vault.
    pub fn key_source(&self) -> Result<Option<KeySource>> {
        Ok(self.read_file()?.map(|(header, _)| header.source))
    }

    fn path(&self) -> PathBuf {
        self.0.directory.join("vault.loom")
    }

    fn change(&self, change: impl FnOnce(&mut Entries) -> Result<()>) -> Result<()> {
        ensure_private_dir(&self.0.directory)?;
        let _lock = self.lock()?;
        let (header, mut entries) = match self.read()? {
            Some((header, entries)) => (header.with_new_nonce()?, entries),
            None => (Header::new(self.0.keys.preferred())?, Entries::new()),
        };
        change(&mut entries)?;
        if header.source == KeySource::KeyFile {
            key::ensure_key_file(&self.0.directory)?;
        }
        let sealed = format::seal(&header, &self.key(&header)?, &entries)?;
        self.keep_previous()?;
        write_private(&self.path(), &sealed)
    }

    /// Writers of all processes take turns.
    fn lock(&self) -> Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let lock = options.custom_flags(nix::fcntl::OFlag::O_NOFOLLOW.bits());
        let file = lock.open(self.0.directory.join("vault.lock")).and_then(|file| file.lock().map(|()| file));
        file.map_err(|cause| unusable(&format!("cannot lock the vault: {cause}")))
    }

    fn keep_previous(&self) -> Result<()> {
        let (path, previous) = (self.path(), self.0.directory.join("vault.loom.prev"));
        match PrivateFile::open(&path, VAULT_BYTES_MAX) {
            Ok(file) => write_private(&previous, &file.read(&path)?),
            Err(error) if error.code == Code::CredentialUnavailable => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn read(&self) -> Result<Option<(Header, Entries)>> {
        let Some((header, bytes)) = self.read_file()? else { return Ok(None) };
        let entries = format::open(&header, &self.key(&header)?, &bytes)?;
        Ok(Some((header, entries)))
    }

    fn read_file(&self) -> Result<Option<(Header, Vec<u8>)>> {
        let path = self.path();
        let bytes = match PrivateFile::open(&path, VAULT_BYTES_MAX) {
            Ok(file) => file.read(&path)?,
            Err(error) if error.code == Code::CredentialUnavailable => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some((Header::parse(&bytes)?, bytes.to_vec())))
    }

    fn key(&self, header: &Header) -> Result<key::Key> {
        let mut derived = self.0.derived.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = derived.as_ref().filter(|known| known.is_for(header)) {
            return Ok(known.key.clone());
        }
        let new = key::derive(header, &self.0.keys, &self.0.directory)?;
        let key = new.key.clone();
        *derived = Some(new);
        Ok(key)
    }
}

fn unusable(why: &str) -> Error {
    Error::new(Code::CredentialUnavailable, why).with_detail("reason", "locked")
}

fn corrupt(why: &str) -> Error {
    Error::new(Code::StoreCorrupt, format!("the vault is damaged: {why}"))
        .with_hint("restore secrets/vault.loom.prev or store the secrets again")
}

/// Creates the key file unless it is there.
fn create_once(path: &Path, bytes: &[u8]) -> Result<()> {
    match create_private(path, bytes) {
        Err(error) if error.detail.get("rule").is_some_and(|rule| rule == "exists") => Ok(()),
        Err(error) => Err(error),
        Ok(()) => sync_parent(path),
    }
}

#[cfg(test)]
mod tests;
