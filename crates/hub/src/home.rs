//! The data directory (platform specification D.1): one root, mode 0700.

use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use loom_domain::{Code, Error, NodeId, Result, Timestamp};

const FOLDERS: &[&str] = &["run", "db", "blobs", "turns", "logs", "secrets", "keys", "runtimes", "tmp"];

/// The data directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// Names the directory; makes nothing.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Home { root: root.into() }
    }

    /// `LOOM_HOME`, else `$XDG_DATA_HOME/loom`, else `~/.local/share/loom`.
    pub fn from_environment(get: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let set = |name: &str| get(name).filter(|value| !value.is_empty());
        if let Some(root) = set("LOOM_HOME") {
            return Ok(Home::new(root));
        }
        if let Some(data) = set("XDG_DATA_HOME") {
            return Ok(Home::new(Path::new(&data).join("loom")));
        }
        let home =
            set("HOME").ok_or_else(|| Error::new(Code::MissingField, "neither LOOM_HOME nor HOME is set"))?;
        Ok(Home::new(Path::new(&home).join(".local/share/loom")))
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path below the directory.
    pub fn join(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Makes the directory and its folders. A directory of another owner or open to others is refused.
    pub fn prepare(&self) -> Result<()> {
        make(&self.root)?;
        let meta = std::fs::metadata(&self.root).map_err(|e| io(&self.root, &e))?;
        if meta.uid() != nix::unistd::geteuid().as_raw() || meta.mode() & 0o077 != 0 {
            return Err(Error::new(
                Code::Forbidden,
                format!("{} must be yours alone (mode 0700)", self.root.display()),
            )
            .with_hint(format!("chmod 700 {}", self.root.display())));
        }
        FOLDERS.iter().try_for_each(|folder| {
            let path = self.root.join(folder);
            make(&path)?;
            check(&path, true)
        })?;
        ["db/loom.db", "loom.toml"]
            .iter()
            .map(|file| self.root.join(file))
            .filter(|path| path.symlink_metadata().is_ok())
            .try_for_each(|path| check(&path, false))
    }

    /// The id of this node, made at first use.
    pub fn node(&self, now: Timestamp, random: u128) -> Result<NodeId> {
        let path = self.join("keys/node.id");
        if path.symlink_metadata().is_ok() {
            let bytes = loom_secrets::private_file::read_private(&path)?;
            return String::from_utf8_lossy(&bytes).trim().parse();
        }
        let node = NodeId::new(now.0, random);
        loom_secrets::private_file::write_private(&path, node.as_str().as_bytes())?;
        Ok(node)
    }
}

/// Refuses a link, another owner's place, and one that others can write to.
fn check(path: &Path, is_folder: bool) -> Result<()> {
    let meta = std::fs::symlink_metadata(path).map_err(|e| io(path, &e))?;
    let is_kind = if is_folder { meta.is_dir() } else { meta.is_file() };
    if is_kind && meta.uid() == nix::unistd::geteuid().as_raw() && meta.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(Error::new(
        Code::Forbidden,
        format!("{} must be a plain place of yours that nobody else can write to", path.display()),
    )
    .with_hint(format!("look at it: ls -ld {}", path.display())))
}

fn make(path: &Path) -> Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|e| io(path, &e))
}

fn io(path: &Path, cause: &std::io::Error) -> Error {
    Error::new(Code::HubReadOnly, format!("{} cannot be used: {cause}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    /// ATK-41: a folder or file of the home that is a link, or open to others, is refused before anything is read.
    #[test]
    fn atk_41_links_and_open_places_in_the_home_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = dir.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        std::fs::write(elsewhere.join("file"), "x").unwrap();
        for (n, place) in ["db", "keys", "db/loom.db", "loom.toml"].into_iter().enumerate() {
            let home = Home::new(dir.path().join(format!("home{n}")));
            home.prepare().unwrap();
            home.prepare().unwrap();
            let path = home.join(place);
            let is_folder = path.is_dir();
            if is_folder {
                std::fs::remove_dir(&path).unwrap();
            }
            symlink(if is_folder { elsewhere.clone() } else { elsewhere.join("file") }, &path).unwrap();
            let refused = home.prepare().unwrap_err();
            assert_eq!(refused.code, Code::Forbidden, "{place}");
            assert!(refused.hint.is_some());
        }
        let home = Home::new(dir.path().join("open"));
        home.prepare().unwrap();
        std::fs::set_permissions(home.join("db"), std::fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(home.prepare().unwrap_err().code, Code::Forbidden);
    }
}
