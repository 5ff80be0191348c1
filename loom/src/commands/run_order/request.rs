//! The request of an order: defaults, then the configuration file, then flags.

use std::path::Path;

use loom_capabilities::{
    CatalogEntry, ConnectorConfig, DOCUMENT_BYTES_MAX, RunLimits, RunRequest, RunSettings,
};
use loom_domain::{Code, Error, Result};
use loom_secrets::CredentialRef;
use serde_json::Value;

use crate::cli::order::{Common, FileKind, Order};
use crate::environment::Environment;
use crate::input::body::read_limited;
use crate::input::document;

/// Largest file that becomes part of an input.
const INPUT_FILE_BYTES_MAX: usize = 10 * 1024 * 1024;
/// Largest file with a cursor.
const CURSOR_BYTES_MAX: usize = 8 * 1024;

/// The request, and whether its payload is kept.
pub(in crate::commands) fn of(order: &Order, env: &mut Environment) -> Result<(RunRequest, bool)> {
    let flags = of_flags(order, env)?;
    let keeps = |save: bool| (save || order.common.save) && !order.common.no_save;
    let Some(path) = &order.common.config else { return Ok((flags, keeps(true))) };
    let config = ConnectorConfig::parse(&read(path, DOCUMENT_BYTES_MAX, env)?)?;
    let entry = order.capability.entry();
    let named = loom_capabilities::fold_id(&config.connector)?;
    if named != entry.qualified() && named != entry.id && !entry.aliases.contains(&named) {
        return Err(Error::new(
            Code::InvalidInput,
            format!("the configuration is one of {named}, not of {}", entry.id),
        )
        .with_detail("pointer", "/connector"));
    }
    let save = keeps(config.save);
    Ok((config.request(flags), save))
}

fn of_flags(order: &Order, env: &mut Environment) -> Result<RunRequest> {
    let Common { api_url, timeout_seconds, deadline_seconds, limit, max_pages, .. } = order.common.clone();
    let mut settings = RunSettings { api_url, ..RunSettings::default() };
    for text in &order.common.credential_refs {
        let (name, reference) = named(order.capability.entry(), text)?;
        settings.credential_refs.insert(name, reference);
    }
    let mut input = order.input.clone();
    for (name, path, kind) in &order.files {
        let text = read(path, INPUT_FILE_BYTES_MAX, env)?;
        let value = match kind {
            FileKind::Text => Value::String(text),
            FileKind::Json => serde_json::from_str(&text).map_err(|error| {
                Error::new(Code::InvalidInput, format!("line {}: not JSON", error.line()))
                    .with_detail("pointer", format!("/{name}"))
            })?,
        };
        input.insert(name.clone(), value);
    }
    Ok(RunRequest {
        operation: order.operation.clone(),
        input: input.into(),
        limits: RunLimits { timeout_seconds, deadline_seconds, limit, max_pages },
        settings,
        ..RunRequest::default()
    })
}

/// `REF` for the only credential, or `NAME=REF`.
pub(in crate::commands) fn named(entry: &CatalogEntry, text: &str) -> Result<(String, CredentialRef)> {
    if let Some((name, reference)) = text.split_once('=')
        && let Some(need) = entry.credentials.iter().find(|need| need.name == name)
    {
        return Ok((need.name.clone(), CredentialRef::parse(reference)?));
    }
    let first = entry.credentials.first().ok_or_else(|| {
        Error::new(Code::InvalidInput, format!("{} takes no credential", entry.id))
            .with_detail("pointer", "/credential_refs")
    })?;
    Ok((first.name.clone(), CredentialRef::parse(text)?))
}

/// A cursor, or the file that holds one.
pub(super) fn cursor(text: &str) -> Result<String> {
    match text.strip_prefix('@') {
        Some(path) => document::read_text(path, CURSOR_BYTES_MAX),
        None => Ok(text.to_owned()),
    }
}

/// Writes the cursor of an incomplete run.
pub(super) fn write_cursor(path: &str, cursor: &str) -> Result<()> {
    let write = loom_secrets::private_file::write_private(Path::new(path), format!("{cursor}\n").as_bytes());
    write.map_err(|error| {
        Error::new(Code::InvalidInput, format!("the cursor cannot be written: {}", error.message))
    })
}

fn read(path: &str, bytes_max: usize, env: &mut Environment) -> Result<String> {
    let text = match path {
        "-" => read_limited(&mut env.stdin.reader, bytes_max),
        path => document::read_text(path, bytes_max),
    };
    text.map_err(|error| match error.code {
        Code::TextTooLong => Error::new(Code::InvalidInput, error.message).with_detail("pointer", ""),
        _ => error,
    })
}
