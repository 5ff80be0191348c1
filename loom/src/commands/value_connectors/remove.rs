//! `loom value-connectors remove`.

use loom_capabilities::InstalledMaps;
use serde_json::json;

use crate::context::Context;
use crate::failure::Outcome;

/// Remove an installed source map
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom value-connectors remove weather_now",
    "loom value-connectors remove weather_now --dry-run"
))]
pub(super) struct Args {
    /// Id of the connector
    #[arg(value_name = "ID")]
    id: String,
}

/// Removes it.
pub(super) fn run(args: &Args, cx: &mut Context<'_, '_>) -> Outcome {
    let maps = InstalledMaps::new(&cx.env.home());
    let dry_run = cx.globals.dry_run;
    let id = if dry_run { maps.load(&args.id)?.entry().id.clone() } else { maps.remove(&args.id)? };
    let line = format!("{} {id}", if dry_run { "would remove" } else { "removed" });
    let done = json!({"object": {"id": id}, "created": false, "changed": ["removed"], "warnings": [], "operationId": null, "dryRun": dry_run});
    cx.out.mutation_as(&done, &line)
}
