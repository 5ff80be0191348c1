//! Writing: a new file of mode 0600 takes the old one's place at once, and both survive a power cut.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use loom_domain::Result;
use nix::fcntl::OFlag;
use nix::unistd::geteuid;

use super::{io_refused, refused};

const MODE: u32 = 0o600;

/// Replaces the file's content: temporary file, fsync, rename, fsync of the directory.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = temporary_beside(path)?;
    let written = create_private(&temporary, bytes).and_then(|()| {
        std::fs::rename(&temporary, path).map_err(|cause| io_refused(path, "unwritable", &cause))
    });
    if written.is_err() {
        // The first failure is the one to tell; a left-over file is private and harmless.
        let _ = std::fs::remove_file(&temporary);
    }
    written?;
    sync_parent(path)
}

/// Creates a file that must not exist, with its content on disk.
pub fn create_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let write = || -> std::io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(MODE).custom_flags(flags.bits());
        let mut file = options.open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|cause| {
        let exists = cause.kind() == std::io::ErrorKind::AlreadyExists;
        io_refused(path, if exists { "exists" } else { "unwritable" }, &cause)
    })
}

/// Makes the directory with mode 0700, or checks that it is ours and closed to others' writes.
pub fn ensure_private_dir(path: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|cause| io_refused(path, "unwritable", &cause))?;
    let facts = std::fs::symlink_metadata(path).map_err(|cause| io_refused(path, "unreadable", &cause))?;
    if !facts.is_dir() {
        return Err(refused(path, "directory", "not a directory"));
    }
    if facts.uid() != geteuid().as_raw() {
        return Err(refused(path, "owner", "the directory belongs to another user"));
    }
    if facts.mode() & 0o022 != 0 {
        return Err(refused(path, "parent_writable", "the directory is writable by its group or others"));
    }
    Ok(())
}

/// Makes the directory's entries durable.
pub(crate) fn sync_parent(path: &Path) -> Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let synced = File::open(parent).and_then(|directory| directory.sync_all());
    synced.map_err(|cause| io_refused(path, "unwritable", &cause))
}

fn temporary_beside(path: &Path) -> Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| refused(path, "name", "the path names no file"))?;
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|cause| refused(path, "unwritable", &cause.to_string()))?;
    Ok(path.with_file_name(format!(".{}.{}.tmp", name.to_string_lossy(), hex::encode(random))))
}
