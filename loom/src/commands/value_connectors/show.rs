//! `loom value-connectors show`.

use loom_api::routes;
use loom_capabilities::Catalog;
use serde_json::Value;

use crate::commands::capability::show as capabilities;
use crate::compose::world;
use crate::context::Context;
use crate::failure::Outcome;

/// Fewest hex digits that name a payload.
const HEX_DIGITS_MIN: usize = 12;

/// Show a connector, a payload, or a plan
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom value-connectors show github_public_probe",
    "loom value-connectors show 1f0e4c7a9b2d --verify"
))]
pub(super) struct Args {
    /// Id of a connector or of a plan, or a payload by its digest
    #[arg(value_name = "ID")]
    id: String,
    /// Recompute the digests of the payload
    #[arg(long)]
    verify: bool,
}

/// Shows it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let is_hex =
        args.id.len() >= HEX_DIGITS_MIN && args.id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if args.id.starts_with("sha256:") || is_hex {
        let store = world::payloads(cx.env);
        let payload = if args.verify { store.verified(&args.id)? } else { store.show(&args.id)? };
        return cx.out.stored_payload(&payload);
    }
    if args.id.starts_with(loom_domain::OperationId::PREFIX) {
        let plan: Value = cx.hub()?.get(routes::plan(&args.id)).run().await?;
        return cx.out.connector_plan(&plan);
    }
    let catalog = Catalog::for_id(&args.id, &cx.env.home())?;
    let connector = catalog.connector(&args.id)?;
    capabilities::print(&**connector, cx).await
}
