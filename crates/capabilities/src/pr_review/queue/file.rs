//! The file of a queue: read, and replaced only if nobody else changed it meanwhile.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use loom_domain::{Code, Error, Principal, Result};
use loom_secrets::private_file::{PrivateFile, ensure_private_dir, write_private};

use super::{State, VERSION};
use crate::{Cx, sha256_of_bytes};

const FOLDER: &str = "pr-review";
/// Largest file that is read.
const BYTES_MAX: u64 = 32 * 1024 * 1024;

/// A queue's file, as it was when it was read.
#[derive(Debug)]
pub(crate) struct QueueFile {
    path: PathBuf,
    digest: Option<String>,
}

impl QueueFile {
    /// The file that the owner names, or that of the repository (`HOST/OWNER/REPO`) below the home.
    pub(crate) fn open(cx: &Cx, named: Option<&str>, repo: &str) -> Result<Self> {
        match named {
            None => Self::of_repo(cx.home()?, repo),
            Some(path) if *cx.principal() == Principal::Owner => Ok(Self::at(Path::new(path))),
            Some(_) => Err(Error::new(Code::Forbidden, "only the owner names files")
                .with_detail("pointer", "/state_file")),
        }
    }

    fn of_repo(home: &Path, repo: &str) -> Result<Self> {
        let folder = home.join(FOLDER);
        ensure_private_dir(home)?;
        ensure_private_dir(&folder)?;
        let name = sha256_of_bytes(repo.to_ascii_lowercase());
        let name = name.trim_start_matches("sha256:");
        Ok(QueueFile { path: folder.join(format!("{name}.json")), digest: None })
    }

    pub(super) fn at(path: &Path) -> Self {
        QueueFile { path: path.to_owned(), digest: None }
    }

    /// Reads the queue; an absent file is an empty one.
    pub(crate) fn read(&mut self, repo: &str) -> Result<State> {
        let Some(bytes) = self.bytes()? else { return Ok(State::new(repo)) };
        self.digest = Some(sha256_of_bytes(&bytes));
        let state: State = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
        if state.schema_version != VERSION {
            return Err(damaged());
        }
        if !state.repo.eq_ignore_ascii_case(repo) {
            return Err(Error::new(
                Code::InvalidInput,
                format!("this file is the queue of {}, not of {repo}", state.repo),
            )
            .with_detail("pointer", "/state_file"));
        }
        Ok(state)
    }

    /// Replaces the file, unless it is not what was read any more.
    pub(crate) fn replace(&mut self, state: &State) -> Result<()> {
        let _lock = self.lock()?;
        let now = self.bytes()?.map(sha256_of_bytes);
        if now != self.digest {
            return Err(Error::new(Code::VersionConflict, "the queue was changed by another process")
                .with_hint("run it again: it starts from the new state"));
        }
        let bytes = serde_json::to_vec(state).map_err(Error::internal)?;
        write_private(&self.path, &bytes)?;
        self.digest = Some(sha256_of_bytes(&bytes));
        Ok(())
    }

    fn bytes(&self) -> Result<Option<Vec<u8>>> {
        if !self.path.exists() {
            return Ok(None);
        }
        Ok(Some(PrivateFile::open(&self.path, BYTES_MAX)?.read(&self.path)?.to_vec()))
    }

    /// The file itself is replaced, so the lock is one beside it.
    fn lock(&self) -> Result<File> {
        let path = self.path.with_extension("lock");
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(Error::internal)?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => {
                Err(Error::new(Code::Locked, "another process changes this queue")
                    .with_hint("run it again in a moment"))
            }
            Err(TryLockError::Error(error)) => Err(Error::internal(error)),
        }
    }
}

fn damaged() -> Error {
    Error::new(Code::IntegrityError, "the file of the queue cannot be read")
        .with_hint("move it away: the next run begins a new queue")
}
