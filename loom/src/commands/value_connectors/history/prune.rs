//! `loom value-connectors history prune`.

use loom_capabilities::Doing;
use serde_json::json;

use super::time_of;
use crate::cli::parsers;
use crate::compose::world;
use crate::context::Context;
use crate::failure::Outcome;

/// Remove payloads that are too old or too much
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom value-connectors history prune --dry-run",
    "loom value-connectors history prune --before 7d"
))]
pub(super) struct Args {
    /// Also what ended before this time, or longer ago
    #[arg(long, value_name = "T", value_parser = parsers::since)]
    before: Option<String>,
}

/// Removes them.
pub(super) fn run(args: &Args, cx: &mut Context<'_, '_>) -> Outcome {
    let before = args.before.as_deref().map(|text| time_of(text, cx.env.now)).transpose()?;
    let doing = if cx.globals.dry_run { Doing::Tell } else { Doing::Remove };
    let payloads = world::payloads(cx.env);
    let pruned = payloads.prune(before, cx.env.now, &payloads.held(), doing)?;
    if !cx.out.is_human() {
        let document =
            json!({"schema_version": "loom.pruned/v1", "dry_run": cx.globals.dry_run, "pruned": pruned});
        return cx.out.json(&document);
    }
    let did = if cx.globals.dry_run { "dry run, nothing changed: would remove" } else { "removed" };
    cx.out.line(&format!("{did} {} payloads ({} bytes), {} stay", pruned.removed, pruned.bytes, pruned.kept))
}
