//! Checks of the data directory and its disk.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::{Check, Result};

const FREE_BYTES_MIN: u64 = 256 * 1024 * 1024;
const PRIVATE: &[&str] = &[
    "loom.toml",
    "secrets/vault.loom",
    "secrets/vault.key",
    "keys/node.id",
    "keys/installation.key",
    "db/loom.db",
];

pub(super) fn checks(home: &Path) -> Vec<Check> {
    let mut checks = Vec::new();
    match std::fs::metadata(home) {
        Err(_) => {
            let line = format!("{} does not exist yet", home.display());
            checks.push(Check::new("home", Result::Skip, line).run("loom up"));
            return checks;
        }
        Ok(meta) => checks.push(private("home", home, &meta, 0o077)),
    }
    for file in PRIVATE {
        let path = home.join(file);
        if let Ok(meta) = std::fs::metadata(&path) {
            checks.push(private("files", &path, &meta, 0o077));
        }
    }
    checks.push(free_space(home));
    if home.join("secrets/vault.key").exists() {
        let line = "the vault's key lies beside it: it protects copies of the vault, not this machine";
        checks.push(Check::new("vault", Result::Warn, line));
    }
    checks
}

fn private(id: &'static str, path: &Path, meta: &std::fs::Metadata, forbidden: u32) -> Check {
    let is_mine = meta.uid() == nix::unistd::geteuid().as_raw();
    let is_private = meta.mode() & forbidden == 0;
    match (is_mine, is_private) {
        (true, true) => Check::new(id, Result::Pass, format!("{} is yours alone", path.display())),
        (false, _) => Check::new(id, Result::Fail, format!("{} belongs to another user", path.display())),
        (true, false) => Check::new(id, Result::Fail, format!("{} can be used by others", path.display()))
            .run(format!("chmod go-rwx {}", path.display())),
    }
}

fn free_space(home: &Path) -> Check {
    match nix::sys::statvfs::statvfs(home) {
        Ok(found) => {
            let free = found.blocks_available().saturating_mul(found.fragment_size());
            let result = if free < FREE_BYTES_MIN { Result::Fail } else { Result::Pass };
            Check::new("disk", result, format!("{} MiB free", free / 1_048_576))
        }
        Err(cause) => Check::new("disk", Result::Warn, format!("free space cannot be read: {cause}")),
    }
}
