//! `loom agent archive`.

use loom_api::{request, routes};
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::Version;
use crate::context::Context;
use crate::failure::Outcome;

/// Retire an Agent; its history stays
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom agent archive docs --dry-run",
    "loom agent archive docs --with-addresses --confirm docs"
))]
pub(crate) struct Args {
    /// Agent name or id
    #[arg(value_parser = parsers::agent)]
    agent: String,
    /// Archive its Addresses in the same Operation
    #[arg(long)]
    with_addresses: bool,
    /// The Agent's name, typed again
    #[arg(long, value_name = "NAME")]
    confirm: Option<String>,
    #[command(flatten)]
    version: Version,
}

/// Archives it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let body = request::ArchiveAgent {
        with_addresses: args.with_addresses,
        confirm: args.confirm,
        expected_version: args.version.expected_version,
    };
    let hub = cx.hub()?;
    let call = hub.post(routes::agent_archive(&args.agent)).dry_run(cx.globals.dry_run);
    let done: Value = call.json(&body)?.run().await?;
    cx.out.mutation(&done)
}
