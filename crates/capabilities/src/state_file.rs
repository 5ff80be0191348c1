//! A file of state that a capability keeps between runs: private, replaced whole, with a lock beside it.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use loom_domain::{Code, Error, Result};
use loom_secrets::private_file::{PrivateFile, ensure_private_dir, write_private};

/// The file; nothing is opened before it is asked for.
#[derive(Debug)]
pub(crate) struct StateFile {
    path: PathBuf,
    bytes_max: u64,
}

impl StateFile {
    /// The file of a digest in a folder below the home; makes the folder.
    pub(crate) fn below(home: &Path, folder: &str, digest: &str, bytes_max: u64) -> Result<Self> {
        let folder = home.join(folder);
        ensure_private_dir(home)?;
        ensure_private_dir(&folder)?;
        let name = digest.trim_start_matches("sha256:");
        Ok(StateFile { path: folder.join(format!("{name}.json")), bytes_max })
    }

    /// The file at a path.
    pub(crate) fn at(path: &Path, bytes_max: u64) -> Self {
        StateFile { path: path.to_owned(), bytes_max }
    }

    /// Its content; none if it is not there.
    pub(crate) fn read(&self) -> Result<Option<Vec<u8>>> {
        if !self.path.exists() {
            return Ok(None);
        }
        Ok(Some(PrivateFile::open(&self.path, self.bytes_max)?.read(&self.path)?.to_vec()))
    }

    /// Puts content in its place.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<()> {
        write_private(&self.path, bytes)
    }

    /// Keeps other processes off until the lock is dropped; `locked` while one of them has it. The file itself is
    /// replaced, so the lock is one beside it.
    pub(crate) fn lock(&self, busy: &str, hint: &str) -> Result<File> {
        let path = self.path.with_extension("lock");
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
        let file = file.map_err(Error::internal)?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(Error::new(Code::Locked, busy).with_hint(hint)),
            Err(TryLockError::Error(error)) => Err(Error::internal(error)),
        }
    }
}
