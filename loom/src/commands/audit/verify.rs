//! `loom audit verify`.

use loom_api::routes;
use serde_json::Value;

use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Check the audit chain; exit 6 when broken
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom audit verify", "loom audit verify --json"))]
pub(crate) struct Args {}

/// Checks it.
pub(super) async fn run(_args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let found: Value = cx.hub()?.get(routes::audit_verify()).run().await?;
    if !cx.out.is_human() {
        return cx.out.json(&found);
    }
    let [rows, nodes] = ["rows", "nodes"].map(|path| pick::number(&found, path));
    let chains = if nodes == 1 { "chain" } else { "chains" };
    cx.out.line(&format!("intact: {rows} rows in {nodes} {chains}"))
}
