//! Free space of the data directory, and the reserve file that is given up when the disk is full, so that
//! receipts and audit still commit (platform specification D.1).

use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::hub::Hub;

/// Free space below which the owner is told, bytes.
const FREE_BYTES_MIN: u64 = 256 * 1_024 * 1_024;
/// Free space below which the owner is told, percent.
const FREE_PERCENT_MIN: u64 = 5;
/// Size of the reserve file, bytes.
const RESERVE_BYTES: u64 = 16 * 1_024 * 1_024;
/// Words of the store's fault when the disk has no room.
const FULL: &str = "disk is full";

/// Space of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Space {
    /// Bytes that this user may still write.
    pub(super) free: u64,
    /// All bytes.
    pub(super) total: u64,
}

impl Space {
    pub(super) fn of(path: &Path) -> Option<Space> {
        let stat = nix::sys::statvfs::statvfs(path).ok()?;
        let block = stat.fragment_size();
        Some(Space {
            free: block.saturating_mul(stat.blocks_available()),
            total: block.saturating_mul(stat.blocks()),
        })
    }

    /// Whether the owner should be told.
    pub(super) fn is_low(self) -> bool {
        self.free < FREE_BYTES_MIN || self.free < self.total / 100 * FREE_PERCENT_MIN
    }
}

/// Keeps the reserve while there is room, and gives it up when the store reports a full disk.
pub(super) async fn tend_reserve(hub: &Hub, fault: Option<&str>) {
    let (root, path) = (hub.home().root().to_owned(), reserve_path(hub));
    let (is_faulty, is_full) = (fault.is_some(), fault.is_some_and(|why| why.contains(FULL)));
    let tended = tokio::task::spawn_blocking(move || tend(&root, &path, is_faulty, is_full)).await;
    match tended {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!("the reserve file cannot be kept: {error}"),
        Err(error) => tracing::warn!("the reserve file was not tended: {error}"),
    }
}

fn reserve_path(hub: &Hub) -> PathBuf {
    hub.home().join("tmp/reserve")
}

fn tend(root: &Path, path: &Path, is_faulty: bool, is_full: bool) -> std::io::Result<()> {
    let Some(space) = Space::of(root) else { return Ok(()) };
    let is_held = std::fs::metadata(path).is_ok_and(|meta| meta.len() == RESERVE_BYTES);
    if is_held && is_faulty && (is_full || space.free < RESERVE_BYTES) {
        tracing::warn!("the disk is full; the reserve is given up");
        return std::fs::remove_file(path);
    }
    if is_held || is_faulty || space.free < FREE_BYTES_MIN {
        return Ok(());
    }
    hold(path).inspect_err(|_| {
        let _ = std::fs::remove_file(path);
    })
}

fn hold(path: &Path) -> std::io::Result<()> {
    let file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    let length = i64::try_from(RESERVE_BYTES).unwrap_or(i64::MAX);
    nix::fcntl::posix_fallocate(&file, 0, length)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_is_under_five_percent_or_256_mib() {
        let gib = 1_024 * 1_024 * 1_024;
        assert!(!Space { free: 6 * gib, total: 100 * gib }.is_low());
        assert!(Space { free: 4 * gib, total: 100 * gib }.is_low());
        assert!(Space { free: FREE_BYTES_MIN - 1, total: gib }.is_low());
    }

    /// MSG-193: room is kept for the last records, given up when the disk is full, and taken again.
    #[test]
    fn msg_193_the_reserve_is_held_given_up_and_held_again() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("reserve");
        let size = || std::fs::metadata(&path).map_or(0, |meta| meta.len());
        tend(home.path(), &path, false, false).unwrap();
        assert_eq!(size(), RESERVE_BYTES, "this test needs 256 MiB of free space");
        tend(home.path(), &path, true, true).unwrap();
        assert_eq!(size(), 0);
        tend(home.path(), &path, true, true).unwrap();
        assert_eq!(size(), 0);
        tend(home.path(), &path, false, false).unwrap();
        assert_eq!(size(), RESERVE_BYTES);
    }
}
