//! A file that is not whole yet: private, hashed while it is written, and gone unless it is kept.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use loom_domain::{Code, Error, Result};
use loom_secrets::Redactor;
use sha2::{Digest as _, Sha256};

/// First byte of the name of a file that is not whole yet.
pub(super) const ASIDE: &str = ".";
/// Where such files lie, below the folder of stored files.
const FOLDER: &str = ".new";
/// Bytes at the beginning that tell the type of a file.
const HEAD_BYTES: usize = 4_096;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A file beside the stored ones. What is dropped is removed.
pub(crate) struct Aside {
    path: PathBuf,
    file: File,
    hasher: Sha256,
    size: u64,
    head: Vec<u8>,
}

impl Aside {
    /// Makes an empty file that only its owner may read.
    pub(super) fn new(root: &Path) -> Result<Aside> {
        make(root).map_err(|cause| not_stored(&cause))
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|cause| not_stored(&cause))?;
        self.hasher.update(bytes);
        self.size = self.size.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        let missing = HEAD_BYTES.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(bytes.get(..missing).unwrap_or_default());
        Ok(())
    }

    /// Bytes written so far.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The first bytes.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// The digest of what was written so far.
    pub(crate) fn sha256(&self) -> String {
        hex::encode(self.hasher.clone().finalize())
    }

    /// Whether a registered value stands in the file.
    pub(crate) fn holds_secret(&mut self, redactor: &Redactor) -> Result<bool> {
        let look = |file: &mut File| {
            file.rewind()?;
            redactor.holds_exact_in(file)
        };
        look(&mut self.file).map_err(|cause| not_stored(&cause))
    }

    /// Gives the file its place, on the disk for good.
    pub(super) fn settle(self, path: &Path) -> Result<()> {
        let settled = || {
            let folder = path.parent().unwrap_or(Path::new("."));
            folder_of_ours(folder)?;
            self.file.sync_all()?;
            std::fs::rename(&self.path, path)?;
            File::open(folder)?.sync_all()
        };
        settled().map_err(|cause| not_stored(&cause))
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!("a file that is not kept cannot be removed: {error}");
            }
            _ => {}
        }
    }
}

fn make(root: &Path) -> io::Result<Aside> {
    let folder = root.join(FOLDER);
    folder_of_ours(&folder)?;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(format!("{ASIDE}{}.{number}.new", std::process::id()));
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o400).open(&path)?;
    Ok(Aside { path, file, hasher: Sha256::new(), size: 0, head: Vec::new() })
}

fn folder_of_ours(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn not_stored(cause: &io::Error) -> Error {
    Error::new(Code::HubReadOnly, format!("a file cannot be stored: {cause}"))
}
