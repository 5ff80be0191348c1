//! `loom agent resume`.

use loom_api::{request, routes};
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::Version;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Start Turns again
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom agent resume docs", "loom agent resume docs --dry-run"))]
pub(crate) struct Args {
    /// Agent name or id
    #[arg(value_parser = parsers::agent)]
    agent: String,
    #[command(flatten)]
    version: Version,
}

/// Resumes it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let body = request::Versioned { expected_version: args.version.expected_version };
    let hub = cx.hub()?;
    let call = hub.post(routes::agent_resume(&args.agent)).dry_run(cx.globals.dry_run);
    let done: Value = call.json(&body)?.run().await?;
    if pick::list(&done, "changed").is_empty() {
        return cx.out.mutation(&done);
    }
    cx.out.mutation_as(&done, &format!("resumed {}", pick::text(&done, "object.name")))
}
