//! `loom value-connectors add`.

use loom_capabilities::{DOCUMENT_BYTES_MAX, InstalledMaps, parse_source_map, run_source_map_tests};
use serde_json::json;

use crate::context::Context;
use crate::failure::Outcome;
use crate::input::document::read_text;

/// Install a source map whose tests pass
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom value-connectors add weather.yaml",
    "loom value-connectors add weather.yaml --dry-run"
))]
pub(super) struct Args {
    /// The source map, YAML or JSON
    #[arg(value_name = "FILE")]
    file: String,
}

/// Installs it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let text = read_text(&args.file, DOCUMENT_BYTES_MAX)?;
    if cx.globals.dry_run {
        parse_source_map(&text)?;
        let tests = Box::pin(run_source_map_tests(&text, None)).await?;
        let object = json!({"tests": tests});
        let plan = json!({"object": object, "created": false, "changed": [], "warnings": [], "operationId": null, "dryRun": true});
        return cx.out.mutation_as(&plan, "valid; nothing was installed");
    }
    let added = InstalledMaps::new(&cx.env.home()).add(&text).await?;
    let line = format!(
        "{} {} ({} tests)",
        if added.replaced { "replaced" } else { "added" },
        added.qualified_id,
        added.tests.len()
    );
    let done = json!({"object": added, "created": !added.replaced, "changed": [], "warnings": [], "operationId": null, "dryRun": false});
    cx.out.mutation_as(&done, &line)
}
