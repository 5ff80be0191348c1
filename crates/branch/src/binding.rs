//! Which repository, directory and branch an installation's configuration lives in.

use std::path::{Path, PathBuf};

use loom_domain::integration::Object;
use loom_domain::{Code, Error, Result};
use loom_secrets::private_file::{ensure_private_dir, read_private, write_private};
use serde::{Deserialize, Serialize};

const FILE: &str = "integration-branch.json";

/// The binding of a home.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// The repository.
    pub repo: PathBuf,
    /// The directory in it.
    pub dir: String,
    /// The branch.
    pub branch: String,
    /// The remote that proposals go to.
    pub remote: Option<String>,
    /// Reference to the deploy key for the remote.
    #[serde(default)]
    pub credential_ref: Option<String>,
    /// The revision that was exported or applied last.
    pub revision: Option<String>,
    /// What both sides last agreed on.
    #[serde(default)]
    pub base: Vec<Object>,
}

impl Binding {
    /// Reads it; none before `init`.
    pub fn load(home: &Path) -> Result<Option<Binding>> {
        let path = home.join(FILE);
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let damaged = |_| Error::new(Code::IntegrityError, "the record of the integration branch is damaged");
        serde_json::from_slice(&read_private(&path)?).map(Some).map_err(damaged)
    }

    /// Writes it.
    pub fn save(&self, home: &Path) -> Result<()> {
        ensure_private_dir(home)?;
        write_private(&home.join(FILE), &serde_json::to_vec(self).map_err(Error::internal)?)
    }

    /// Refuses names that git or a path would read otherwise.
    pub fn check(&self) -> Result<()> {
        let is_name = |text: &str| {
            !text.is_empty()
                && text.len() <= 200
                && !text.starts_with(['-', '/', '.'])
                && !text.ends_with(['/', '.'])
                && !text.contains("..")
                && !text.contains("//")
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-/".contains(&b))
        };
        let checks = [
            ("dir", is_name(&self.dir)),
            ("branch", is_name(&self.branch)),
            ("remote", self.remote.as_deref().is_none_or(is_name)),
        ];
        match checks.iter().find(|(_, holds)| !holds) {
            Some((field, _)) => Err(Error::invalid(field, "expected letters, digits, `.`, `_`, `-` and `/`")),
            None => Ok(()),
        }
    }
}
