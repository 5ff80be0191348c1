//! `loom value-connectors validate`.

use loom_capabilities::{DOCUMENT_BYTES_MAX, validate_source_map};
use loom_domain::Code;
use serde_json::json;

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::input::document::read_text;

/// Check a source map; nothing is sent
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom value-connectors validate weather.yaml",
    "loom value-connectors validate weather.yaml --json"
))]
pub(super) struct Args {
    /// The source map, YAML or JSON
    #[arg(value_name = "FILE")]
    file: String,
}

/// Checks it.
pub(super) fn run(args: &Args, cx: &mut Context<'_, '_>) -> Outcome {
    let checked = validate_source_map(&read_text(&args.file, DOCUMENT_BYTES_MAX)?);
    if !cx.out.is_human() {
        cx.out.json(&json!(checked))?;
    } else if checked.ok {
        let id = checked.id.as_deref().unwrap_or_default();
        cx.out.line(&format!(
            "{id} is valid: {} operations, {} tests",
            checked.operations.len(),
            checked.tests
        ))?;
    }
    if checked.ok {
        return Ok(());
    }
    if cx.out.is_human() {
        for fault in &checked.errors {
            let place = format!("{}:{}:{}", args.file, fault.line, fault.column);
            cx.out.line(&format!("{place} {} {}: {}", fault.pointer, fault.code, fault.message))?;
        }
    }
    Err(Failure::of(Code::InvalidInput))
}
