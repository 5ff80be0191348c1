//! `loom conversation archive`.

use loom_api::{request, routes};
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::Version;
use crate::context::Context;
use crate::failure::Outcome;

/// Retire a Membership; its history stays
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom conversation archive mem_01arz3ndektsv4rrffq69g5fav --dry-run",
    "loom conversation archive mem_01arz3ndektsv4rrffq69g5fav \\\n      --confirm mem_01arz3ndektsv4rrffq69g5fav"
))]
pub(crate) struct Args {
    /// Membership id
    #[arg(value_name = "MEM", value_parser = parsers::membership)]
    membership: String,
    /// The id, typed again
    #[arg(long, value_name = "MEM")]
    confirm: Option<String>,
    #[command(flatten)]
    version: Version,
}

/// Archives it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let body = request::Confirm { confirm: args.confirm, expected_version: args.version.expected_version };
    let hub = cx.hub()?;
    let call = hub.post(routes::membership_archive(&args.membership)).dry_run(cx.globals.dry_run);
    let done: Value = call.json(&body)?.run().await?;
    cx.out.mutation(&done)
}
