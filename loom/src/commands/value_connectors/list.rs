//! `loom value-connectors list`.

use loom_capabilities::Kind;

use crate::commands::capability::list as capabilities;
use crate::context::Context;
use crate::failure::Outcome;

/// List the value connectors
#[derive(Debug, Default, clap::Args)]
#[command(after_help = examples!("loom value-connectors list", "loom value-connectors list --ready --json"))]
pub(super) struct Args {
    #[command(flatten)]
    filters: capabilities::Filters,
}

/// Lists them.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    capabilities::print(Some(Kind::ValueConnector), &args.filters, cx).await
}
