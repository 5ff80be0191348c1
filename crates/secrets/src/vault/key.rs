//! Keys of the vault: a systemd credential, a passphrase, or a key file.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use argon2::{Algorithm, Argon2, Params, Version};
use loom_domain::{Error, Result};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::format::Header;
use super::{create_once, unusable};
use crate::Secret;
use crate::private_file::read_private;

const KEY_BYTES: usize = 32;
const ARGON2_MEMORY_KIB: u32 = 64 * 1024;
const ARGON2_PASSES: u32 = 3;
const ARGON2_LANES: u32 = 1;
const CONTEXT: &[u8] = b"loom-vault-1";
const CREDENTIAL: &str = "loom-vault-key";
const CREDENTIAL_BYTES_MIN: usize = 16;
const CREDENTIAL_BYTES_MAX: u64 = 64 * 1024;

/// A key in memory.
pub(super) type Key = Zeroizing<[u8; KEY_BYTES]>;

/// What opens a vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySource {
    /// A passphrase through Argon2id.
    Passphrase,
    /// `secrets/vault.key`, made with the vault.
    KeyFile,
    /// The systemd credential `loom-vault-key`.
    Systemd,
}

impl KeySource {
    pub(super) fn id(self) -> u8 {
        match self {
            KeySource::Passphrase => 1,
            KeySource::KeyFile => 2,
            KeySource::Systemd => 3,
        }
    }

    pub(super) fn from_id(id: u8) -> Option<Self> {
        [KeySource::Passphrase, KeySource::KeyFile, KeySource::Systemd].into_iter().find(|s| s.id() == id)
    }
}

/// The keys that the caller has at hand.
#[derive(Debug, Clone, Default)]
pub struct VaultKeys {
    /// The directory that systemd names in `CREDENTIALS_DIRECTORY`.
    pub credentials_directory: Option<PathBuf>,
    /// The passphrase from the prompt or its file.
    pub passphrase: Option<Secret>,
}

impl VaultKeys {
    /// The source for a new vault: systemd's credential, else the passphrase, else a key file.
    pub(super) fn preferred(&self) -> KeySource {
        if self.credential().is_some_and(|path| path.exists()) {
            KeySource::Systemd
        } else if self.passphrase.is_some() {
            KeySource::Passphrase
        } else {
            KeySource::KeyFile
        }
    }

    fn credential(&self) -> Option<PathBuf> {
        self.credentials_directory.as_ref().map(|directory| directory.join(CREDENTIAL))
    }
}

/// A derived key with what it was derived for.
#[derive(Debug)]
pub(super) struct Derived {
    pub(super) key: Key,
    source: KeySource,
    salt: [u8; 16],
}

impl Derived {
    pub(super) fn is_for(&self, header: &Header) -> bool {
        self.source == header.source && self.salt == header.salt
    }
}

/// Derives the key that the header asks for.
pub(super) fn derive(header: &Header, keys: &VaultKeys, directory: &Path) -> Result<Derived> {
    let key = match header.source {
        KeySource::Passphrase => {
            let passphrase =
                keys.passphrase.as_ref().ok_or_else(|| unusable("the vault needs its passphrase"))?;
            stretched(passphrase.expose().as_bytes(), &header.salt)?
        }
        KeySource::KeyFile => {
            let path = directory.join("vault.key");
            let bytes = read_private(&path).map_err(|error| error.with_detail("reason", "locked"))?;
            if bytes.len() != KEY_BYTES {
                return Err(unusable("secrets/vault.key is not a key"));
            }
            hashed(&bytes, &header.salt)
        }
        KeySource::Systemd => hashed(&systemd_credential(keys)?, &header.salt),
    };
    Ok(Derived { key, source: header.source, salt: header.salt })
}

/// Makes the key file unless there is one.
pub(super) fn ensure_key_file(directory: &Path) -> Result<()> {
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    getrandom::fill(&mut key[..]).map_err(Error::internal)?;
    create_once(&directory.join("vault.key"), &key[..])
}

fn stretched(passphrase: &[u8], salt: &[u8]) -> Result<Key> {
    let params = Params::new(ARGON2_MEMORY_KIB, ARGON2_PASSES, ARGON2_LANES, Some(KEY_BYTES));
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params.map_err(Error::internal)?);
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    argon2.hash_password_into(passphrase, salt, &mut key[..]).map_err(Error::internal)?;
    Ok(key)
}

fn hashed(material: &[u8], salt: &[u8]) -> Key {
    let digest = Sha256::new().chain_update(CONTEXT).chain_update(salt).chain_update(material).finalize();
    Zeroizing::new(digest.into())
}

/// systemd owns this file and may grant it by an access list, so only the world's access is refused.
fn systemd_credential(keys: &VaultKeys) -> Result<Zeroizing<Vec<u8>>> {
    let path = keys.credential().ok_or_else(|| unusable("the vault needs the credential loom-vault-key"))?;
    let read = || -> std::io::Result<Zeroizing<Vec<u8>>> {
        let file = File::open(&path)?;
        let facts = file.metadata()?;
        if !facts.is_file() || facts.mode() & 0o007 != 0 {
            return Err(std::io::Error::other("it is open to everyone"));
        }
        let mut bytes = Zeroizing::new(Vec::new());
        file.take(CREDENTIAL_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|cause| unusable(&format!("the credential loom-vault-key: {cause}")))?;
    if bytes.len() < CREDENTIAL_BYTES_MIN {
        return Err(unusable("the credential loom-vault-key is too short to be a key"));
    }
    Ok(bytes)
}
