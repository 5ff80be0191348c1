//! The layout of the directory: one file for each object, named by its id, and one that tells of all.

use std::collections::BTreeMap;

use loom_capabilities::read_document;
use loom_domain::integration::{Key, Kind, Tree};
use loom_domain::{Code, Error, Result};
use loom_secrets::{Profile, Redactor, Rule};
use serde_json::{Map, Value, json};

use crate::yaml;

/// Largest file that is read.
pub const FILE_BYTES_MAX: u64 = 256 * 1024;
/// Files below the directory.
const FILES_MAX: usize = 10_000;
const INDEX: &str = "integration.yaml";
/// Name of the file that tells of all.
pub(crate) const SCHEMA: &str = "loom.integration/v1";
/// The field that names a credential.
const REFERENCE: &str = "credentialRef";
const SUFFIX: &str = ".yaml";

/// Texts by path below the directory.
pub type Files = BTreeMap<String, String>;

/// The files of a configuration. A secret in any of them stops it, before anything is written.
pub fn write_files(tree: &Tree, redactor: &Redactor) -> Result<Files> {
    let mut files = Files::new();
    let mut counts = Map::new();
    for kind in Kind::ALL {
        let count = tree.objects.keys().filter(|key| key.kind == *kind).count();
        counts.insert(kind.to_string(), json!(count));
    }
    let index = json!({"schema_version": SCHEMA, "hub_digest": tree.digest(), "objects": counts});
    if let Value::Object(index) = index {
        files.insert(INDEX.to_owned(), yaml::document(&index));
    }
    for (key, fields) in &tree.objects {
        check_paths(&key.to_string(), fields, redactor)?;
        files.insert(format!("{key}{SUFFIX}"), yaml::document(fields));
    }
    check_secrets(&files, redactor)?;
    Ok(files)
}

/// Reads a configuration. Unknown files, fields and schemas are refused, and so is a secret.
pub fn read_files(files: &Files, redactor: &Redactor) -> Result<Tree> {
    if files.len() > FILES_MAX {
        return Err(Error::new(Code::TooLarge, format!("the directory holds more than {FILES_MAX} files")));
    }
    check_secrets(files, redactor)?;
    let mut tree = Tree::default();
    for (path, text) in files {
        let document = read_document(text).map_err(|error| told(error, path))?;
        let Value::Object(members) = document else {
            return Err(told(Error::new(Code::InvalidInput, "the file is no mapping"), path));
        };
        if path == INDEX {
            check_index(&members)?;
            continue;
        }
        let key = key_of(path)?;
        tree.add(key, members).map_err(|error| told(error, path))?;
    }
    Ok(tree)
}

fn check_index(members: &Map<String, Value>) -> Result<()> {
    match members.get("schema_version").and_then(Value::as_str) {
        Some(SCHEMA) => Ok(()),
        _ => Err(told(Error::new(Code::InvalidInput, format!("expected schema_version {SCHEMA}")), INDEX)),
    }
}

fn key_of(path: &str) -> Result<Key> {
    let unknown = || told(Error::new(Code::InvalidInput, "this directory has no such file"), path);
    let (folder, name) = path.split_once('/').ok_or_else(unknown)?;
    let kind: Kind = folder.parse().map_err(|_| unknown())?;
    Key::new(kind, name.strip_suffix(SUFFIX).ok_or_else(unknown)?).map_err(|_| unknown())
}

/// Refuses absolute paths of this machine; a reference to a credential may hold one.
fn check_paths(object: &str, fields: &Map<String, Value>, redactor: &Redactor) -> Result<()> {
    for (name, value) in fields.iter().filter(|(name, _)| *name != REFERENCE) {
        let hits = redactor.scan(value.to_string(), Profile::Export);
        if hits.iter().any(|hit| hit.rule == Rule::LocalPath) {
            return Err(Error::new(Code::InvalidInput, format!("{name} holds a path of this machine"))
                .with_detail("object", object));
        }
    }
    Ok(())
}

fn check_secrets(files: &Files, redactor: &Redactor) -> Result<()> {
    files.iter().try_for_each(|(path, text)| redactor.check_export(text).map_err(|error| told(error, path)))
}

fn told(error: Error, path: &str) -> Error {
    let path: String = path.chars().take(200).collect();
    error.with_detail("file", path)
}
