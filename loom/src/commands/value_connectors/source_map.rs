//! `loom value-connectors source-map`.

use loom_capabilities::{Catalog, source_map};
use serde_json::json;

use super::install_check::chosen;
use crate::compose::world;
use crate::context::Context;
use crate::failure::Outcome;

/// Tell an Agent what connectors there are
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom value-connectors source-map --json",
    "loom value-connectors source-map --connector github_public_probe"
))]
pub(super) struct Args {
    /// One connector, or all
    #[arg(long, value_name = "ID", default_value = "all")]
    connector: String,
}

/// Tells it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let world = world::offline(cx.env)?;
    let (catalog, _) = Catalog::of_home(&cx.env.home())?;
    let mut connectors = Vec::new();
    for capability in chosen(&catalog, &args.connector)? {
        let readiness = world::readiness(&world, capability).await;
        connectors.push(source_map(capability.entry(), &readiness));
    }
    if cx.out.is_human() {
        for map in &connectors {
            cx.out.heading(&map.id)?;
            cx.out.line(&map.title)?;
            for operation in &map.operations {
                cx.out.line(&format!(
                    "  {:<12} gives {}",
                    operation.id,
                    operation.output_fields.join(", ")
                ))?;
            }
            map.first_steps.iter().try_for_each(|step| cx.out.line(&format!("  {step}")))?;
        }
        return Ok(());
    }
    cx.out.json(&json!({"schema_version": "loom.source_map_packet/v1", "connectors": connectors}))
}
