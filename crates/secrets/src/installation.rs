//! The key of this installation: it seals cursors, and keys digests that are shown, so that nobody else can test
//! guesses against them and that stay the same over restarts.

use std::path::Path;

use crate::private_file::{create_private, ensure_private_dir, read_private};
use loom_domain::{Code, Error, Result};

const BYTES: usize = 32;

/// Reads `keys/installation.key` below a home; makes it when it does not exist.
pub fn installation_key(home: &Path) -> Result<[u8; BYTES]> {
    let path = home.join("keys").join("installation.key");
    if let Some(key) = existing(&path)? {
        return Ok(key);
    }
    let mut key = [0; BYTES];
    getrandom::fill(&mut key).map_err(Error::internal)?;
    ensure_private_dir(home)?;
    ensure_private_dir(&home.join("keys"))?;
    match create_private(&path, hex::encode(key).as_bytes()) {
        Ok(()) => Ok(key),
        // Another process was faster; its key is the key.
        Err(error) => existing(&path)?.ok_or(error),
    }
}

fn existing(path: &Path) -> Result<Option<[u8; BYTES]>> {
    if !path.exists() {
        return Ok(None);
    }
    let bytes = read_private(path)?;
    let text = std::str::from_utf8(&bytes).unwrap_or_default().trim();
    let key = hex::decode(text).ok().and_then(|key| key.try_into().ok());
    key.map(Some).ok_or_else(|| Error::new(Code::IntegrityError, "the key of this installation is damaged"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn an_installation_keeps_its_key_and_shares_it_with_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        let key = installation_key(&home).unwrap();
        assert_eq!(installation_key(&home).unwrap(), key);
        assert_ne!(installation_key(&dir.path().join("other")).unwrap(), key);
        let path = home.join("keys/installation.key");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&path, "short").unwrap();
        assert_eq!(installation_key(&home).unwrap_err().code, Code::IntegrityError);
    }
}
