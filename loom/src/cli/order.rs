//! Orders: what a command line asks of a capability. Flags and help are made from the schema of its input.

mod common;
mod flags;
mod help;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args as _, parser::ValueSource};
use loom_capabilities::{Capability, Catalog, Operation};
use loom_domain::{Code, Error};
use serde_json::{Map, Value};

pub(crate) use common::Common;
pub(crate) use flags::FileKind;

use super::{Cli, Globals, usage};
use crate::compose::world;
use crate::failure::Outcome;
use crate::output::Format;

/// What a command line asks of a capability.
pub(crate) struct Order {
    /// The capability.
    pub(crate) capability: Arc<dyn Capability>,
    /// Operation; empty is the one of the configuration, or the first.
    pub(crate) operation: String,
    /// Input that was given as flags.
    pub(crate) input: Map<String, Value>,
    /// Input that is read from files: name, path, form.
    pub(crate) files: Vec<(String, String, FileKind)>,
    /// Flags that every run takes.
    pub(crate) common: Common,
}

impl std::fmt::Debug for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Order").field("capability", &self.capability.entry().id).finish_non_exhaustive()
    }
}

/// Words of a command line that name a capability and its flags.
pub(crate) struct Words<'a> {
    /// `value-connectors`, `value-connectors probe` or `capability run`.
    pub(crate) under: &'static str,
    /// The id, and everything behind it.
    pub(crate) typed: Cow<'a, [String]>,
    /// Whether only value connectors are meant.
    pub(crate) connectors_only: bool,
    /// Operation, where the command names it.
    pub(crate) operation: Option<&'static str>,
    /// Whether a `--url` in front of these words is the connector's own.
    pub(crate) takes_url: bool,
}

/// Reads the order in a parsed command line, if there is one; gives a help text, if that is asked for.
pub(crate) fn read(
    cli: &mut Cli,
    home: &Path,
    variables: &BTreeMap<String, String>,
) -> Outcome<Option<String>> {
    let Some(mut words) = cli.command.order_words() else { return Ok(None) };
    if let (true, Some(url)) = (words.takes_url, cli.globals.url.take()) {
        words.typed.to_mut().push(format!("--url={url}"));
    }
    let (id, rest) = words.typed.split_first().ok_or_else(|| Error::new(Code::Usage, "an id is missing"))?;
    let catalog = Catalog::for_id(id, home)?;
    let find = |catalog: &Catalog| {
        let found = match words.connectors_only {
            true => catalog.connector(id),
            false => catalog.capability(id),
        };
        found.map(Arc::clone)
    };
    let capability = find(&catalog)?;
    let (operation, rest) = named_operation(&*capability, &words, rest)?;
    let mut command = help::command(&*capability, operation, words.under);
    let all = std::iter::once(words.under.to_owned()).chain(rest.iter().cloned());
    let matches = match command.try_get_matches_from_mut(all) {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::DisplayHelp => return Ok(Some(error.render().to_string())),
        Err(error) => {
            let path = format!("loom {}", help::path(&*capability, words.under));
            return Err(usage::translate_at(&error, &path, &command).into());
        }
    };
    merge(&mut cli.globals, &matches);
    let (input, files) = flags::read(&operation.input.value(), &matches)?;
    let common = Common::read(&matches)?;
    // Without a word for it the operation may still come out of a configuration file.
    let named = words.operation.is_some() || rest.len() < words.typed.len() - 1 || common.operation.is_some();
    let operation = if named { operation.id.clone() } else { String::new() };
    // Help needs no configuration; what runs is under it.
    let capability = find(&world::limited(catalog, home, variables)?)?;
    cli.order = Some(Box::new(Order { capability, operation, input, files, common }));
    Ok(None)
}

/// The commands of all connectors with the flags of their first operations.
pub(crate) fn documented() -> Vec<clap::Command> {
    let catalog = Catalog::builtin();
    let connectors = catalog.connectors().filter_map(|connector| {
        let operation = connector.entry().operations.first()?;
        let name = connector.entry().id.replace('_', "-");
        let more = if name == "http-webhook" { super::hook::command() } else { clap::Command::new("none") };
        let command = help::command(&**connector, operation, "value-connectors").name(name);
        Some(command.subcommands(more.get_subcommands().cloned()))
    });
    connectors.collect()
}

/// The operation that the words name, and the words without it.
fn named_operation<'a>(
    capability: &'a dyn Capability,
    words: &Words<'_>,
    rest: &'a [String],
) -> Outcome<(&'a Operation, &'a [String])> {
    let entry = capability.entry();
    let by_word =
        rest.first().filter(|word| !word.starts_with('-')).and_then(|word| entry.find_operation(word));
    if let (Some(operation), None) = (by_word, words.operation) {
        return Ok((operation, rest.get(1..).unwrap_or_default()));
    }
    let by_flag = rest.iter().enumerate().find_map(|(at, word)| match word.strip_prefix("--op") {
        Some("") => rest.get(at + 1).map(String::as_str),
        Some(value) => value.strip_prefix('='),
        None => None,
    });
    let found = match words.operation.or(by_flag) {
        Some(name) => entry.find_operation(name).ok_or_else(|| unknown_operation(capability, name))?,
        None => entry.operations.first().ok_or_else(|| unknown_operation(capability, ""))?,
    };
    Ok((found, rest))
}

fn unknown_operation(capability: &dyn Capability, name: &str) -> Error {
    let entry = capability.entry();
    let known: Vec<&str> = entry.operations.iter().map(|operation| operation.id.as_str()).collect();
    let name: String = name.chars().take(48).collect();
    Error::new(Code::OperationNotFound, format!("{} has no operation {name}", entry.id))
        .with_hint(format!("operations: {}", known.join(", ")))
        .with_detail("nearest", known)
}

/// The flags of every command, without those whose names the input uses itself.
pub(super) fn global_flags(taken: &[String]) -> Vec<clap::Arg> {
    let all = Globals::augment_args(clap::Command::new("globals"));
    let free = |arg: &&clap::Arg| {
        arg.get_id() != "url" && arg.get_long().is_some_and(|long| !taken.iter().any(|name| name == long))
    };
    all.get_arguments().filter(free).cloned().map(|arg| arg.global(false)).collect()
}

pub(super) fn merge(globals: &mut Globals, matches: &ArgMatches) {
    // Those in front of the id count too; what stands behind it says more.
    let given = |id: &str| {
        matches.try_contains_id(id).is_ok() && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    let flag = |id: &str| given(id) && matches!(matches.try_get_one::<bool>(id), Ok(Some(true)));
    let form = |id: &str| match given(id) {
        true => matches.try_get_one::<Format>(id).ok().flatten().copied(),
        false => None,
    };
    globals.format = form("format").unwrap_or(globals.format);
    globals.output = form("output").or(globals.output);
    for (id, field) in [
        ("json", &mut globals.json),
        ("dry_run", &mut globals.dry_run),
        ("yes", &mut globals.yes),
        ("quiet", &mut globals.quiet),
        ("verbose", &mut globals.verbose),
        ("no_color", &mut globals.no_color),
        ("wide", &mut globals.wide),
    ] {
        *field |= flag(id);
    }
    // A connector's own --url is no hub.
    globals.url = None;
}
