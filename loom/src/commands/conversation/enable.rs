//! `loom conversation enable`.

use loom_api::{request, routes};
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::Version;
use crate::context::Context;
use crate::failure::Outcome;

/// Approve a Membership; waiting DMs go on
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom conversation enable mem_01arz3ndektsv4rrffq69g5fav",
    "loom conversation enable mem_01arz3ndektsv4rrffq69g5fav --keep-pending"
))]
pub(crate) struct Args {
    /// Membership id
    #[arg(value_name = "MEM", value_parser = parsers::membership)]
    membership: String,
    /// Leave waiting messages as they are
    #[arg(long)]
    keep_pending: bool,
    #[command(flatten)]
    version: Version,
}

/// Enables it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let expected_version = args.version.expected_version;
    let body = request::EnableMembership { keep_pending: args.keep_pending, expected_version };
    let hub = cx.hub()?;
    let call = hub.post(routes::membership_enable(&args.membership)).dry_run(cx.globals.dry_run);
    let done: Value = call.json(&body)?.run().await?;
    cx.out.mutation(&done)
}
