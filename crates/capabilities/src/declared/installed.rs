//! The source maps of an installation: `connectors/ID.yaml` below the home, readable by its owner only.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loom_domain::{Code, Error, Result};
use loom_secrets::private_file::{PrivateFile, ensure_private_dir, write_private};
use serde::Serialize;

use super::{TestResult, parse, run_tests};
use crate::{Capability, Catalog, DOCUMENT_BYTES_MAX, fold_id};

/// Most maps of an installation.
const MAPS_MAX: usize = 500;

/// The folder of the installed maps.
#[derive(Debug, Clone)]
pub struct InstalledMaps {
    home: PathBuf,
}

/// What `add` did.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Added {
    /// Id of the connector.
    pub id: String,
    /// Id with its package: how it is always reachable.
    pub qualified_id: String,
    /// Version.
    pub version: String,
    /// Whether a map of this id was there before.
    pub replaced: bool,
    /// Whether a built-in has this id, so that the bare id means that one.
    pub shadowed_by_builtin: bool,
    /// Its tests, all of which passed.
    pub tests: Vec<TestResult>,
}

/// The usable maps, and the others.
pub type Loaded = (Vec<Arc<dyn Capability>>, Vec<Damaged>);

/// A map that is installed and cannot be used.
#[derive(Debug, Clone)]
pub struct Damaged {
    /// Name of the file without its ending.
    pub id: String,
    /// What is wrong with it.
    pub error: Error,
}

impl InstalledMaps {
    /// Names the folder below a home; makes and reads nothing.
    pub fn new(home: &Path) -> Self {
        InstalledMaps { home: home.to_owned() }
    }

    fn folder(&self) -> PathBuf {
        self.home.join("connectors")
    }

    /// Only an id that was checked reaches a path.
    fn path(&self, id: &str) -> PathBuf {
        self.folder().join(format!("{id}.yaml"))
    }

    /// Validates and tests a map, then keeps it. One that fails is `invalid_input` with its faults or failures.
    pub async fn add(&self, text: &str) -> Result<Added> {
        let connector = parse(text)?;
        let tests = Box::pin(run_tests(text, None)).await?;
        if tests.iter().any(|test| !test.ok) {
            let failed: Vec<&TestResult> = tests.iter().filter(|test| !test.ok).collect();
            return Err(Error::new(Code::InvalidInput, "the tests of the source map do not pass")
                .with_detail("tests", serde_json::json!(failed)));
        }
        let entry = connector.entry();
        let path = self.path(&entry.id);
        let replaced = path.exists();
        if !replaced && self.ids()?.len() >= MAPS_MAX {
            return Err(Error::new(Code::InvalidInput, format!("at most {MAPS_MAX} source maps are kept")));
        }
        ensure_private_dir(&self.home)?;
        ensure_private_dir(&self.folder())?;
        write_private(&path, text.as_bytes())?;
        let builtin = Catalog::builtin().capability(&entry.id).is_ok();
        Ok(Added {
            id: entry.id.clone(),
            qualified_id: entry.qualified(),
            version: entry.version.clone(),
            replaced,
            shadowed_by_builtin: builtin,
            tests,
        })
    }

    /// Removes a map by its id, bare or as `local/ID`.
    pub fn remove(&self, id: &str) -> Result<String> {
        let id = bare(id)?;
        match std::fs::remove_file(self.path(&id)) {
            Ok(()) => Ok(id),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let known = self.ids()?;
                let nearest = crate::catalog::nearest_words(&id, known.iter().map(String::as_str));
                Err(Error::new(Code::ConnectorNotFound, format!("no source map {id} is installed"))
                    .with_detail("nearest", nearest))
            }
            Err(error) => Err(Error::internal(error)),
        }
    }

    /// Ids of the installed maps, in order; no file is opened.
    pub fn ids(&self) -> Result<Vec<String>> {
        let entries = match std::fs::read_dir(self.folder()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::internal(error)),
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let ids = names.filter_map(|name| {
            let id = name.strip_suffix(".yaml")?;
            (fold_id(id).ok()? == id).then(|| id.to_owned())
        });
        let mut ids: Vec<String> = ids.collect();
        ids.sort();
        ids.truncate(MAPS_MAX);
        Ok(ids)
    }

    /// Reads one map.
    pub fn load(&self, id: &str) -> Result<Arc<dyn Capability>> {
        let path = self.path(&bare(id)?);
        let bytes = PrivateFile::open(&path, DOCUMENT_BYTES_MAX as u64)?.read(&path)?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| Error::new(Code::IntegrityError, format!("the file of {id} is not UTF-8")))?;
        let connector = parse(text)?;
        if connector.entry().id != bare(id)? {
            return Err(Error::new(
                Code::IntegrityError,
                format!("the file of {id} holds another source map"),
            ));
        }
        Ok(Arc::new(connector))
    }

    /// Reads all of them. A damaged one keeps nobody from using the others.
    pub fn load_all(&self) -> Result<Loaded> {
        let (mut good, mut damaged) = (Vec::new(), Vec::new());
        for id in self.ids()? {
            match self.load(&id) {
                Ok(connector) => good.push(connector),
                Err(error) => damaged.push(Damaged { id, error }),
            }
        }
        Ok((good, damaged))
    }
}

/// The id without the package of the owner's maps.
fn bare(id: &str) -> Result<String> {
    let id = fold_id(id)?;
    match id.split_once('/') {
        None => Ok(id),
        Some((package, id)) if package == super::LOCAL_PACKAGE => Ok(id.to_owned()),
        Some(_) => Err(Error::new(Code::ConnectorNotFound, format!("{id} is no source map of yours"))),
    }
}

impl Catalog {
    /// The built-ins with the installed maps of a home, and the maps that cannot be used.
    pub fn of_home(home: &Path) -> Result<(Self, Vec<Damaged>)> {
        let (maps, damaged) = InstalledMaps::new(home).load_all()?;
        Ok((Catalog::builtin().with(maps), damaged))
    }

    /// A catalog that is enough for one id: what is not asked for is made only to name what is near.
    pub fn for_id(id: &str, home: &Path) -> Result<Self> {
        if let Some(alone) = Catalog::builtin_connector(id) {
            return Ok(alone);
        }
        let builtin = Catalog::builtin();
        match builtin.capability(id) {
            Err(error) if error.code == Code::CapabilityNotFound => Ok(Self::of_home(home)?.0),
            _ => Ok(builtin),
        }
    }
}
