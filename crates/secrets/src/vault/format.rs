//! The file: magic, kind of key, salt, nonce, then the sealed map with the header as associated data.

use std::collections::BTreeMap;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use loom_domain::{Error, Result};
use zeroize::Zeroizing;

use super::key::Key;
use super::{Entries, KeySource, VAULT_ENTRIES_MAX, VAULT_ENTRY_BYTES_MAX, corrupt, unusable};
use crate::Secret;

const MAGIC: &[u8; 8] = b"LOOMVLT1";
const SALT_BYTES: usize = 16;
const NONCE_BYTES: usize = 24;
const HEADER_BYTES: usize = MAGIC.len() + 1 + SALT_BYTES + NONCE_BYTES;
/// Largest vault: every entry at its limit, doubled for JSON escapes.
pub(super) const VAULT_BYTES_MAX: u64 = (VAULT_ENTRIES_MAX * (VAULT_ENTRY_BYTES_MAX + 256) * 2) as u64;

/// What stands before the sealed map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) source: KeySource,
    pub(super) salt: [u8; SALT_BYTES],
    nonce: [u8; NONCE_BYTES],
}

impl Header {
    pub(super) fn new(source: KeySource) -> Result<Self> {
        Ok(Header { source, salt: random()?, nonce: random()? })
    }

    pub(super) fn with_new_nonce(self) -> Result<Self> {
        Ok(Header { nonce: random()?, ..self })
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self> {
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| corrupt("it does not begin as a vault"))?;
        let read = || {
            let (source, rest) = rest.split_first()?;
            let (salt, rest) = rest.split_first_chunk::<SALT_BYTES>()?;
            let nonce = rest.first_chunk::<NONCE_BYTES>()?;
            Some(Header { source: KeySource::from_id(*source)?, salt: *salt, nonce: *nonce })
        };
        read().ok_or_else(|| corrupt("its header is unknown or cut"))
    }

    fn bytes(&self) -> Vec<u8> {
        [&MAGIC[..], &[self.source.id()], &self.salt, &self.nonce].concat()
    }
}

/// Encrypts the map behind its header.
pub(super) fn seal(header: &Header, key: &Key, entries: &Entries) -> Result<Vec<u8>> {
    let map: BTreeMap<&str, &str> =
        entries.iter().map(|(name, value)| (name.as_str(), value.expose())).collect();
    let plain = Zeroizing::new(serde_json::to_vec(&map).map_err(Error::internal)?);
    let mut out = header.bytes();
    let payload = Payload { msg: &plain, aad: &out };
    let sealed = cipher(key)?.encrypt(&XNonce::from(header.nonce), payload).map_err(Error::internal)?;
    out.extend_from_slice(&sealed);
    Ok(out)
}

/// Decrypts the map. A wrong key and a changed file cannot be told apart.
pub(super) fn open(header: &Header, key: &Key, bytes: &[u8]) -> Result<Entries> {
    let (aad, msg) = bytes.split_at_checked(HEADER_BYTES).ok_or_else(|| corrupt("it is cut"))?;
    let opened = cipher(key)?.decrypt(&XNonce::from(header.nonce), Payload { msg, aad });
    let plain = Zeroizing::new(opened.map_err(|_| {
        unusable("the vault does not open: the key is another one, or the file was changed")
            .with_hint("give the right key or passphrase, or restore secrets/vault.loom.prev")
    })?);
    let map: BTreeMap<String, String> =
        serde_json::from_slice(&plain).map_err(|_| corrupt("its content is not a map"))?;
    Ok(map.into_iter().map(|(name, value)| (name, Secret::new(value))).collect())
}

fn cipher(key: &Key) -> Result<XChaCha20Poly1305> {
    XChaCha20Poly1305::new_from_slice(&key[..]).map_err(Error::internal)
}

fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(Error::internal)?;
    Ok(bytes)
}
