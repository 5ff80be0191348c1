//! `loom agent rename`.

use loom_api::{request, routes};
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::Version;
use crate::context::Context;
use crate::failure::Outcome;

/// Give an Agent another name; its id stays
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom agent rename docs manual", "loom agent rename docs manual --dry-run"))]
pub(crate) struct Args {
    /// Agent name or id
    #[arg(value_parser = parsers::agent)]
    agent: String,
    /// New name
    #[arg(value_parser = parsers::agent)]
    new: String,
    #[command(flatten)]
    version: Version,
}

/// Renames it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let body = request::UpdateAgent {
        name: Some(args.new),
        expected_version: args.version.expected_version,
        ..request::UpdateAgent::default()
    };
    let hub = cx.hub()?;
    let call = hub.patch(routes::agent(&args.agent)).dry_run(cx.globals.dry_run);
    let done: Value = call.json(&body)?.run().await?;
    cx.out.mutation(&done)
}
