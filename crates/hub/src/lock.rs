//! One hub per data directory: an OS lock, so that no stale file can stand in the way.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use loom_domain::{Code, Error, Result, Timestamp};

use crate::home::Home;

const HOLDER_BYTES_MAX: u64 = 512;

/// The held lock; dropping it lets the next hub start.
#[derive(Debug)]
pub struct HubLock {
    _file: File,
}

/// Takes the lock of a data directory. Held by another process: `locked`, naming it.
pub fn take(home: &Home, now: Timestamp) -> Result<HubLock> {
    let path = home.join("loom.lock");
    let open = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(nix::fcntl::OFlag::O_NOFOLLOW.bits())
        .open(&path);
    let mut file = open
        .map_err(|cause| Error::new(Code::HubReadOnly, format!("the lock file cannot be opened: {cause}")))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(held(&mut file)),
        Err(TryLockError::Error(cause)) => {
            return Err(Error::new(
                Code::UnsupportedFilesystem,
                format!("the data directory cannot be locked: {cause}"),
            ));
        }
    }
    let note = format!("pid {} version {} since {now}\n", std::process::id(), env!("CARGO_PKG_VERSION"));
    let written = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(note.as_bytes()));
    written.map_err(|cause| {
        Error::new(Code::HubReadOnly, format!("the lock file cannot be written: {cause}"))
    })?;
    Ok(HubLock { _file: file })
}

fn held(file: &mut File) -> Error {
    let mut holder = String::new();
    let _ = file.take(HOLDER_BYTES_MAX).read_to_string(&mut holder);
    let holder = holder.trim().to_owned();
    Error::new(Code::Locked, format!("another hub holds this data directory ({holder})"))
        .with_detail("holder", holder)
}
