//! Reading: every rule is checked on the handle that is read from, so a swapped path changes nothing.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use loom_domain::{Code, Error, Result};
use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::Mode;
use nix::unistd::geteuid;
use zeroize::Zeroizing;

use super::{io_refused, refused};

/// Largest credential file.
pub const PRIVATE_FILE_BYTES_MAX: u64 = 64 * 1024;

/// A private file that passed every check and is open.
#[derive(Debug)]
pub struct PrivateFile {
    file: File,
    length: u64,
}

impl PrivateFile {
    /// Opens and checks a file of 1 to `bytes_max` bytes. An absent file is `credential_unavailable`.
    pub fn open(path: &Path, bytes_max: u64) -> Result<Self> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().ok_or_else(|| refused(path, "name", "the path names no file"))?;
        let directory = open(parent, OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())
            .map_err(|errno| unopened(path, errno))?;
        let directory = File::from(directory);
        check_parent(path, &directory)?;
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK;
        let handle = openat(&directory, name, flags, Mode::empty()).map_err(|errno| unopened(path, errno))?;
        let file = File::from(handle);
        let length = check(path, &file, bytes_max)?;
        Ok(PrivateFile { file, length })
    }

    /// Reads the whole file from the checked handle.
    pub fn read(self, path: &Path) -> Result<Zeroizing<Vec<u8>>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(self.length).unwrap_or_default()));
        let read = (&self.file).take(self.length).read_to_end(&mut bytes);
        read.map_err(|cause| io_refused(path, "unreadable", &cause))?;
        Ok(bytes)
    }
}

/// Reads a private file of 1 byte to 64 KiB.
pub fn read_private(path: &Path) -> Result<Zeroizing<Vec<u8>>> {
    PrivateFile::open(path, PRIVATE_FILE_BYTES_MAX)?.read(path)
}

fn check_parent(path: &Path, directory: &File) -> Result<()> {
    let facts = directory.metadata().map_err(|cause| io_refused(path, "unreadable", &cause))?;
    if facts.mode() & 0o022 != 0 {
        return Err(refused(path, "parent_writable", "the directory is writable by its group or others"));
    }
    if facts.uid() != geteuid().as_raw() && facts.uid() != 0 {
        return Err(refused(path, "parent_owner", "the directory belongs to another user"));
    }
    Ok(())
}

fn check(path: &Path, file: &File, bytes_max: u64) -> Result<u64> {
    let facts = file.metadata().map_err(|cause| io_refused(path, "unreadable", &cause))?;
    let rules = [
        (facts.is_file(), "regular_file", "not a regular file"),
        (facts.uid() == geteuid().as_raw(), "owner", "the file belongs to another user"),
        (matches!(facts.mode() & 0o7777, 0o600 | 0o400), "mode", "the mode is not 0600 or 0400"),
        (facts.nlink() == 1, "links", "the file has several hard links"),
        (facts.len() >= 1, "empty", "the file is empty"),
        (facts.len() <= bytes_max, "too_large", "the file is too large"),
    ];
    match rules.iter().find(|(holds, ..)| !holds) {
        Some((_, rule, why)) => Err(refused(path, rule, why)),
        None => Ok(facts.len()),
    }
}

fn unopened(path: &Path, errno: Errno) -> Error {
    match errno {
        Errno::ENOENT => Error::new(Code::CredentialUnavailable, format!("{}: no such file", path.display()))
            .with_detail("reason", "missing"),
        Errno::ELOOP => refused(path, "symlink", "the file is a symbolic link"),
        Errno::ENXIO => refused(path, "regular_file", "not a regular file"),
        _ => refused(path, "unreadable", errno.desc()),
    }
}
