//! The file of a queue: read, and replaced only if nobody else changed it meanwhile.

use std::fs::File;
use std::path::Path;

use loom_domain::{Code, Error, Principal, Result};

use super::{State, VERSION};
use crate::state_file::StateFile;
use crate::{Cx, sha256_of_bytes};

const FOLDER: &str = "pr-review";
/// Largest file that is read.
const BYTES_MAX: u64 = 32 * 1024 * 1024;

/// A queue's file, as it was when it was read.
#[derive(Debug)]
pub(crate) struct QueueFile {
    file: StateFile,
    digest: Option<String>,
}

impl QueueFile {
    /// The file that the owner names, or that of the repository (`HOST/OWNER/REPO`) below the home.
    pub(crate) fn open(cx: &Cx, named: Option<&str>, repo: &str) -> Result<Self> {
        match named {
            None => {
                let name = sha256_of_bytes(repo.to_ascii_lowercase());
                Ok(QueueFile { file: StateFile::below(cx.home()?, FOLDER, &name, BYTES_MAX)?, digest: None })
            }
            Some(path) if *cx.principal() == Principal::Owner => Ok(Self::at(Path::new(path))),
            Some(_) => Err(Error::new(Code::Forbidden, "only the owner names files")
                .with_hint("leave the state file out: the queue below the home is used")
                .with_detail("pointer", "/state_file")),
        }
    }

    pub(super) fn at(path: &Path) -> Self {
        QueueFile { file: StateFile::at(path, BYTES_MAX), digest: None }
    }

    /// Reads the queue; an absent file is an empty one.
    pub(crate) fn read(&mut self, repo: &str) -> Result<State> {
        let Some(bytes) = self.file.read()? else { return Ok(State::new(repo)) };
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

    /// Keeps others from changing the file until the lock is dropped.
    pub(crate) fn lock(&self) -> Result<File> {
        self.file.lock("another process changes this queue", "run it again in a moment")
    }

    /// Replaces the file, unless it is not what was read any more.
    pub(crate) fn replace(&mut self, state: &State) -> Result<()> {
        let lock = self.lock()?;
        let now = self.file.read()?.map(sha256_of_bytes);
        if now != self.digest {
            return Err(Error::new(Code::VersionConflict, "the queue was changed by another process")
                .with_hint("run it again: it starts from the new state"));
        }
        self.put(state, &lock)
    }

    /// Puts a state in its place, under the lock.
    pub(crate) fn put(&mut self, state: &State, _lock: &File) -> Result<()> {
        let bytes = serde_json::to_vec(state).map_err(Error::internal)?;
        self.file.write(&bytes)?;
        self.digest = Some(sha256_of_bytes(&bytes));
        Ok(())
    }
}

fn damaged() -> Error {
    Error::new(Code::IntegrityError, "the file of the queue cannot be read")
        .with_hint("move it away: the next run begins a new queue")
}
