//! The runtime catalog: the only authority on which ids exist.

mod builtins;
mod nearest;

use std::sync::Arc;

use loom_domain::{Code, Error, Result};

use crate::{Capability, CatalogEntry, Kind, Origin};

/// Characters of an id.
const ID_CHARS: std::ops::RangeInclusive<usize> = 2..=48;
/// Characters of a package name.
const PACKAGE_CHARS_MAX: usize = 48;

/// An id in its canonical spelling: `-` is `_`. Anything but an id, or a package and an id, is `invalid_input`.
pub fn fold_id(text: &str) -> Result<String> {
    let (package, id) = match text.split_once('/') {
        Some((package, id)) => (Some(package), id),
        None => (None, text),
    };
    let id = folded(id);
    if !is_id(&id) || !package.is_none_or(is_package) {
        let error =
            Error::new(Code::InvalidInput, "an id has 2 to 48 of a-z, 0-9 and _, and starts with a letter");
        return Err(error.with_detail("rule", "id").with_hint("loom capability list"));
    }
    Ok(package.map_or(id.clone(), |package| format!("{package}/{id}")))
}

pub(crate) fn folded(id: &str) -> String {
    id.replace('-', "_")
}

fn is_id(id: &str) -> bool {
    ID_CHARS.contains(&id.len())
        && id.starts_with(|c: char| c.is_ascii_lowercase())
        && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn is_package(name: &str) -> bool {
    name.len() <= PACKAGE_CHARS_MAX
        && name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// Every capability that this process knows.
#[derive(Clone)]
pub struct Catalog(Vec<Arc<dyn Capability>>);

impl std::fmt::Debug for Catalog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.entries().map(CatalogEntry::qualified)).finish()
    }
}

impl Default for Catalog {
    fn default() -> Self {
        Catalog::builtin()
    }
}

impl Catalog {
    /// The built-ins.
    pub fn builtin() -> Self {
        Catalog::of(builtins::all())
    }

    /// The built-in value connector of an id alone, if there is one.
    pub(crate) fn builtin_connector(id: &str) -> Option<Self> {
        builtins::connector(&folded(id)).map(|connector| Catalog(vec![connector]))
    }

    /// A catalog of exactly these.
    pub fn of(mut all: Vec<Arc<dyn Capability>>) -> Self {
        all.sort_by_key(|one| (one.entry().origin != Origin::Builtin, one.entry().qualified()));
        Catalog(all)
    }

    /// Adds installed ones. The built-ins keep their bare ids.
    pub fn with(self, more: impl IntoIterator<Item = Arc<dyn Capability>>) -> Self {
        Catalog::of(self.0.into_iter().chain(more).collect())
    }

    /// Lets the built-ins that read whole repositories read these alone, `OWNER/REPO` or `OWNER/*`, whoever asks.
    pub fn limited_to(mut self, repos: &[String]) -> Self {
        let limited = builtins::limited_to(repos);
        let replaces = |entry: &CatalogEntry| limited.iter().any(|one| one.entry().id == entry.id);
        self.0.retain(|one| one.entry().origin != Origin::Builtin || !replaces(one.entry()));
        self.with(limited)
    }

    /// All of them: built-ins first, then by id.
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn Capability>> {
        self.0.iter()
    }

    /// All entries, in the same order.
    pub fn entries(&self) -> impl Iterator<Item = &CatalogEntry> {
        self.0.iter().map(|one| one.entry())
    }

    /// The value connectors.
    pub fn connectors(&self) -> impl Iterator<Item = &Arc<dyn Capability>> {
        self.0.iter().filter(|one| one.entry().kind == Kind::ValueConnector)
    }

    /// Finds a runnable capability by id, alias or `PACKAGE/ID`; else `capability_not_found`.
    pub fn capability(&self, id: &str) -> Result<&Arc<dyn Capability>> {
        self.find(id, Code::CapabilityNotFound, |kind| kind != Kind::Host)
    }

    /// Finds a value connector by id, alias or `PACKAGE/ID`; else `connector_not_found`.
    pub fn connector(&self, id: &str) -> Result<&Arc<dyn Capability>> {
        self.find(id, Code::ConnectorNotFound, |kind| kind == Kind::ValueConnector)
    }

    fn find(&self, text: &str, code: Code, fits: impl Fn(Kind) -> bool) -> Result<&Arc<dyn Capability>> {
        let wanted = fold_id(text)?;
        let known = || self.0.iter().filter(|one| fits(one.entry().kind));
        if wanted.contains('/') {
            let found = known().find(|one| one.entry().qualified() == wanted);
            return found.ok_or_else(|| unknown(code, &wanted, self.nearest(&wanted, &fits)));
        }
        let named: Vec<_> = known().filter(|one| is_named(one.entry(), &wanted)).collect();
        let builtin = named.iter().find(|one| one.entry().origin == Origin::Builtin);
        match (builtin, named.as_slice()) {
            (Some(one), _) | (None, [one]) => Ok(one),
            (None, []) => Err(unknown(code, &wanted, self.nearest(&wanted, &fits))),
            (None, several) => {
                let ids = several.iter().map(|one| one.entry().qualified()).collect();
                Err(unknown(code, &wanted, ids)
                    .with_hint("several packages have this id; name it as PACKAGE/ID"))
            }
        }
    }

    fn nearest(&self, wanted: &str, fits: &impl Fn(Kind) -> bool) -> Vec<String> {
        let words = self.entries().filter(|entry| fits(entry.kind)).flat_map(|entry| {
            let names = std::iter::once(&entry.id).chain(&entry.aliases);
            names.map(|name| (name.as_str(), entry.qualified()))
        });
        nearest::ids(wanted.rsplit('/').next().unwrap_or_default(), words)
    }
}

/// At most five words that a mistyped one may have meant.
pub(crate) fn nearest_words<'a>(wanted: &str, words: impl Iterator<Item = &'a str>) -> Vec<String> {
    nearest::ids(wanted, words.map(|word| (word, word.to_owned())))
}

fn is_named(entry: &CatalogEntry, wanted: &str) -> bool {
    entry.id == wanted || entry.aliases.iter().any(|alias| alias == wanted)
}

fn unknown(code: Code, wanted: &str, nearest: Vec<String>) -> Error {
    let kind = if code == Code::ConnectorNotFound { "connector" } else { "capability" };
    let hint = match nearest.first() {
        Some(near) => format!("did you mean `{near}`? `loom capability list` shows all"),
        None => "loom capability list".to_owned(),
    };
    Error::new(code, format!("no {kind} {wanted}")).with_hint(hint).with_detail("nearest", nearest)
}

#[cfg(test)]
mod tests;
