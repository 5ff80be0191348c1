//! `loom notices ack`.

use loom_api::routes;
use serde_json::Value;

use crate::cli::parsers;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Acknowledge a Notice
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom notices ack ntc_01arz3ndektsv4rrffq69g5fav",
    "loom notices ack ntc_01arz3ndektsv4rrffq69g5fav --json"
))]
pub(crate) struct Args {
    /// Notice id
    #[arg(value_parser = parsers::notice)]
    id: String,
}

/// Acknowledges it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let hub = cx.hub()?;
    let done: Value = hub.post(routes::notice_ack(&args.id)).dry_run(cx.globals.dry_run).run().await?;
    cx.out.mutation_as(&done, &format!("acknowledged {}", pick::text(&done, "object.id")))
}
