//! Whether a source map may be used: every fault with its place, without the network.

mod inputs;
mod operations;
mod tests_of;

use std::collections::BTreeSet;

use loom_domain::Error;
use serde::{Deserialize as _, Serialize};
use serde_json::Value;

use super::map::{PlaceKind, SourceFile};
use super::places::Places;
use super::rules;
use crate::{read_document, schema};

/// Most faults that are told.
const FAULTS_MAX: usize = 50;

/// A fault of a source map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Fault {
    /// Where, as a JSON pointer.
    pub pointer: String,
    /// Line, from 1.
    pub line: u64,
    /// Column, from 1.
    pub column: u64,
    /// Stable word: `syntax`, `unknown_key`, `schema`, `inputs`, `url`, `template`, `host`, `credential`, `secret`,
    /// `jq`, `fields`, `pagination`, `write`, `resource`, `operation` or `test`.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
}

/// Gathers faults.
pub(super) struct Faults {
    places: Places,
    all: Vec<Fault>,
}

impl Faults {
    pub(super) fn add(&mut self, pointer: impl Into<String>, code: &'static str, message: impl Into<String>) {
        if self.all.len() < FAULTS_MAX {
            let pointer = pointer.into();
            let (line, column) = self.places.find(&pointer);
            self.all.push(Fault { pointer, line, column, code, message: message.into() });
        }
    }
}

/// Reads a source map, or tells everything that is wrong with it.
pub(super) fn read(text: &str) -> Result<SourceFile, Vec<Fault>> {
    let document = read_document(text).map_err(|error| vec![syntax(&error)])?;
    let mut faults = Faults { places: Places::of(text), all: Vec::new() };
    let broken = schema::broken(&rules::rules(), &document, FAULTS_MAX).unwrap_or_default();
    for one in broken {
        let code = if one.is_unknown_key { "unknown_key" } else { "schema" };
        faults.add(one.pointer, code, one.message);
    }
    secrets(&document, &mut String::new(), &mut faults);
    if !faults.all.is_empty() {
        return Err(faults.all);
    }
    let map = match SourceFile::deserialize(&document) {
        Ok(map) => map,
        Err(error) => {
            faults.add("", "schema", error.to_string());
            return Err(faults.all);
        }
    };
    hosts(&map, &mut faults);
    credentials(&map, &mut faults);
    inputs::check(&map, &mut faults);
    operations::check(&map, &mut faults);
    tests_of::check(&map, &mut faults);
    if faults.all.is_empty() { Ok(map) } else { Err(faults.all) }
}

fn syntax(error: &Error) -> Fault {
    let number = |key: &str| error.detail.get(key).and_then(Value::as_u64).unwrap_or(1);
    Fault {
        pointer: String::new(),
        line: number("line"),
        column: number("column"),
        code: "syntax",
        message: error.message.clone(),
    }
}

/// No text of a map may be a secret: maps are shared.
fn secrets(value: &Value, pointer: &mut String, faults: &mut Faults) {
    match value {
        Value::String(text) => {
            if let Some(rule) = loom_secrets::find_secret_in_input(text) {
                faults.add(
                    pointer.as_str(),
                    "secret",
                    format!("a literal secret ({}) may not stand here", rule.id()),
                );
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                below(&at.to_string(), item, pointer, faults);
            }
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| below(key, member, pointer, faults));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn below(step: &str, value: &Value, pointer: &mut String, faults: &mut Faults) {
    let length = pointer.len();
    *pointer = super::places::below(pointer, step);
    secrets(value, pointer, faults);
    pointer.truncate(length);
}

fn hosts(map: &SourceFile, faults: &mut Faults) {
    let mut known = BTreeSet::new();
    for (at, host) in map.egress.hosts.iter().enumerate() {
        let pointer = format!("/egress/hosts/{at}/host");
        if !is_public_name(&host.name) {
            faults.add(&pointer, "host", "a host is one exact public name, in lower case, without wildcards");
        }
        if !known.insert(host.authority()) {
            faults.add(&pointer, "host", "this host stands twice");
        }
    }
}

/// A name with a dot that is no address and not reserved for private networks.
fn is_public_name(host: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last = host.rsplit('.').next().unwrap_or_default();
    let private = ["local", "localhost", "internal", "lan", "home", "arpa", "onion"];
    host.contains('.')
        && host.split('.').all(is_label)
        && last.bytes().any(|b| b.is_ascii_lowercase())
        && !last.starts_with("0x")
        && !private.contains(&last)
}

fn credentials(map: &SourceFile, faults: &mut Faults) {
    let declared: BTreeSet<String> = map.egress.hosts.iter().map(super::map::Host::authority).collect();
    let mut names = BTreeSet::new();
    let mut served = BTreeSet::new();
    for (at, credential) in map.credentials.iter().enumerate() {
        let pointer = format!("/credentials/{at}");
        if !names.insert(&credential.name) {
            faults.add(format!("{pointer}/name"), "credential", "this name stands twice");
        }
        for (of, host) in credential.hosts.iter().enumerate() {
            let pointer = format!("{pointer}/hosts/{of}");
            if !declared.contains(host) {
                faults.add(&pointer, "host", format!("{host} is not among egress.hosts as host:port"));
            }
            if !served.insert(host) {
                faults.add(&pointer, "credential", format!("{host} has a credential already"));
            }
        }
        let place = &credential.place;
        let needs_name = matches!(place.kind, PlaceKind::Header | PlaceKind::Query);
        if needs_name != place.name.is_some() {
            let message =
                if needs_name { "this kind of place needs a name" } else { "this kind of place has no name" };
            faults.add(format!("{pointer}/place"), "credential", message);
        }
        if let Some(format) = &place.format {
            let fits = place.kind == PlaceKind::Header && format.matches("{value}").count() == 1;
            if !fits || format.replace("{value}", "").contains(['{', '}', '\r', '\n']) {
                let message = "a format stands in a header, and holds {value} once and no other template";
                faults.add(format!("{pointer}/place/format"), "credential", message);
            }
        }
    }
}
