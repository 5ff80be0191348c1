//! `loom conversation disable`.

use loom_api::{request, routes};
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::Version;
use crate::context::Context;
use crate::failure::Outcome;

/// Switch a Membership off
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom conversation disable mem_01arz3ndektsv4rrffq69g5fav",
    "loom conversation disable mem_01arz3ndektsv4rrffq69g5fav --dry-run"
))]
pub(crate) struct Args {
    /// Membership id
    #[arg(value_name = "MEM", value_parser = parsers::membership)]
    membership: String,
    #[command(flatten)]
    version: Version,
}

/// Disables it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let body = request::Versioned { expected_version: args.version.expected_version };
    let hub = cx.hub()?;
    let call = hub.post(routes::membership_disable(&args.membership)).dry_run(cx.globals.dry_run);
    let done: Value = call.json(&body)?.run().await?;
    cx.out.mutation(&done)
}
