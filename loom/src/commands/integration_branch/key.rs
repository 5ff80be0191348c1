//! The deploy key in a private file, for as long as one command of git needs it.

use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use loom_domain::{Code, Error, Result, Timestamp};
use loom_secrets::private_file::ensure_private_dir;
use tempfile::NamedTempFile;

/// How the files are called.
const PREFIX: &str = "key-";
/// Age at which a key counts as left behind, milliseconds: no command of git runs nearly so long.
const LEFT_BEHIND_MS: i64 = 10 * 60_000;

/// Writes a key down. Whoever was killed with one in hand has it removed here.
pub(super) fn lend(home: &Path, secret: &str, now: Timestamp) -> Result<NamedTempFile> {
    let folder = home.join("run");
    ensure_private_dir(&folder)?;
    sweep(home, now);
    let written = tempfile::Builder::new().prefix(PREFIX).tempfile_in(folder).and_then(|mut file| {
        // SSH reads a key only with its line end.
        file.write_all(format!("{}\n", secret.trim_end()).as_bytes())?;
        Ok(file)
    });
    written.map_err(|cause| {
        Error::new(Code::CredentialUnavailable, format!("the key cannot be lent to git: {}", cause.kind()))
    })
}

/// Removes keys that were left behind by a process that was killed.
pub(crate) fn sweep(home: &Path, now: Timestamp) {
    let entries = std::fs::read_dir(home.join("run")).into_iter().flatten().flatten();
    let keys = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    for key in keys {
        let Ok(meta) = key.metadata() else { continue };
        let written = Timestamp(meta.mtime().saturating_mul(1_000));
        if meta.is_file() && now.since_ms(written) > LEFT_BEHIND_MS {
            // One that is gone already is as good.
            let _ = std::fs::remove_file(key.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, FileTimes};
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    /// CAP-088: a key outlives the process that lent it only until somebody looks.
    #[test]
    fn cap_088_a_key_that_was_left_behind_is_removed_at_the_next_use() {
        let home = tempfile::tempdir().unwrap();
        let now = Timestamp(1_800_000_000_000);
        let run = home.path().join("run");
        std::fs::create_dir(&run).unwrap();
        for (name, age_seconds) in [("key-old", 601), ("key-new", 30), ("loom.sock", 100_000)] {
            let file = File::create(run.join(name)).unwrap();
            let at = UNIX_EPOCH + Duration::from_secs(1_800_000_000 - age_seconds);
            file.set_times(FileTimes::new().set_modified(at)).unwrap();
        }
        let lent = lend(home.path(), "-----BEGIN KEY-----\n\n", now).unwrap();
        assert_eq!(std::fs::read_to_string(lent.path()).unwrap(), "-----BEGIN KEY-----\n");
        let is_there = |name: &str| run.join(name).exists();
        assert_eq!((is_there("key-old"), is_there("key-new"), is_there("loom.sock")), (false, true, true));
        let path = lent.path().to_owned();
        drop(lent);
        assert!(!path.exists());
    }
}
