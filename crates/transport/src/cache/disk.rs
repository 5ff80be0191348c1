//! Projections on disk: one private file each, 256 MiB and 30 days at most.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::{ProjectionStore, StoredProjection};

/// Bytes of all files together.
const BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Age at which a file is no longer used.
const AGE_MAX: Duration = Duration::from_secs(30 * 24 * 3_600);
/// Largest file; larger projections are not kept.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Files that are saved between two looks at the whole directory.
const SAVES_PER_LOOK: u64 = 256;

/// Projections in a directory of the data root.
#[derive(Debug)]
pub struct ProjectionDir {
    dir: PathBuf,
    saves: AtomicU64,
    bytes_max: u64,
}

impl ProjectionDir {
    /// Keeps projections in `dir`, which is made when the first one is saved.
    pub fn new(dir: &Path) -> Self {
        ProjectionDir { dir: dir.to_owned(), saves: AtomicU64::new(0), bytes_max: BYTES_MAX }
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        let is_digest = key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_digest.then(|| self.dir.join(format!("{key}.json")))
    }

    fn read(&self, key: &str) -> Option<StoredProjection> {
        let path = self.path(key)?;
        let file = fs::File::open(&path).ok()?;
        let facts = file.metadata().ok()?;
        if !is_fresh(&facts) {
            let _ = fs::remove_file(path);
            return None;
        }
        let mut text = String::new();
        file.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    }

    fn write(&self, key: &str, stored: &StoredProjection) -> io::Result<()> {
        let Some(path) = self.path(key) else { return Ok(()) };
        let bytes = serde_json::to_vec(stored)?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return self.delete(key);
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        let saves = self.saves.fetch_add(1, Ordering::Relaxed);
        if saves.is_multiple_of(SAVES_PER_LOOK) {
            self.prune()?;
        }
        let draft = self.dir.join(format!("{key}.{}-{saves}.tmp", std::process::id()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        let renamed = file.write_all(&bytes).and_then(|()| fs::rename(&draft, path));
        if renamed.is_err() {
            let _ = fs::remove_file(&draft);
        }
        renamed
    }

    fn delete(&self, key: &str) -> io::Result<()> {
        match self.path(key).map(fs::remove_file) {
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes what is too old, then the oldest until the rest fits.
    fn prune(&self) -> io::Result<()> {
        let mut kept = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let entry = entry?;
            let Ok(facts) = entry.metadata() else { continue };
            match facts.modified() {
                Ok(time) if is_fresh(&facts) => kept.push((time, facts.len(), entry.path())),
                _ => drop(fs::remove_file(entry.path())),
            }
        }
        kept.sort();
        let mut bytes: u64 = kept.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, size, path) in kept {
            if bytes <= self.bytes_max {
                break;
            }
            let _ = fs::remove_file(path);
            bytes -= size;
        }
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "compared with times that the file system wrote, not Loom")]
fn is_fresh(facts: &fs::Metadata) -> bool {
    // A time of the future, after a step of the clock, counts as now.
    let age = facts.modified().ok().map(|time| SystemTime::now().duration_since(time).unwrap_or_default());
    age.is_some_and(|age| age <= AGE_MAX)
}

impl ProjectionStore for ProjectionDir {
    fn load(&self, key: &str) -> Option<StoredProjection> {
        self.read(key)
    }

    fn save(&self, key: &str, stored: &StoredProjection) {
        if let Err(error) = self.write(key, stored) {
            tracing::warn!(kind = ?error.kind(), "a projection cannot be kept");
        }
    }

    fn remove(&self, key: &str) {
        if let Err(error) = self.delete(key) {
            tracing::warn!(kind = ?error.kind(), "a projection cannot be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use serde_json::json;

    use super::*;

    fn stored(n: u32) -> StoredProjection {
        StoredProjection { etag: Some(format!("\"{n}\"")), last_modified: None, projection: json!({"n": n}) }
    }

    fn key(n: u32) -> String {
        format!("{n:064x}")
    }

    #[test]
    fn a_projection_is_kept_privately_and_forgotten() {
        let home = tempfile::tempdir().unwrap();
        let dir = ProjectionDir::new(&home.path().join("cache"));
        assert_eq!(dir.load(&key(1)), None);
        dir.save(&key(1), &stored(1));
        assert_eq!(dir.load(&key(1)), Some(stored(1)));
        let file = home.path().join("cache").join(format!("{}.json", key(1)));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        dir.remove(&key(1));
        assert!(!file.exists());
        dir.save("../x", &stored(1));
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn old_and_too_many_files_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let dir = ProjectionDir { bytes_max: 150, ..ProjectionDir::new(home.path()) };
        let past = |days: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(days * 24 * 3_600);
        for n in 1..=4 {
            dir.save(&key(n), &stored(n));
        }
        let file =
            |n| OpenOptions::new().write(true).open(home.path().join(format!("{}.json", key(n)))).unwrap();
        let now = file(2).metadata().unwrap().modified().unwrap();
        file(1).set_modified(past(1)).unwrap();
        file(2).set_modified(now - Duration::from_secs(60)).unwrap();
        dir.prune().unwrap();
        assert_eq!([1, 2, 3, 4].map(|n| dir.load(&key(n)).is_some()), [false, false, true, true]);
    }
}
