//! `loom multi-agent stop`.

use loom_api::routes;
use loom_domain::Result;
use serde_json::{Value, json};

use super::print;
use super::run::followed;
use crate::cli::parsers;
use crate::context::Context;
use crate::failure::Outcome;

/// Stop a run; what works is given a time to end
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom multi-agent stop op_01arz3ndektsv4rrffq69g5fav",
    "loom multi-agent stop op_01arz3ndektsv4rrffq69g5fav --grace 5m"
))]
pub(super) struct Args {
    /// Run
    #[arg(value_name = "RUN")]
    run: String,
    /// Time for what works to end, at most 10m
    #[arg(long, value_name = "D", default_value = "30s", value_parser = grace)]
    grace: u64,
}

/// Seconds; no time at all is one of them.
fn grace(text: &str) -> Result<u64> {
    if matches!(text, "0" | "0s") { Ok(0) } else { parsers::seconds(text) }
}

/// Stops it, and waits until it has.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let hub = cx.hub()?;
    if cx.globals.dry_run {
        let run: Value = hub.get(routes::loop_run(&args.run)).run().await?;
        return print::run(&run, cx);
    }
    let query = json!({"graceMs": args.grace.saturating_mul(1_000)});
    let asked: Value = hub.delete(routes::loop_run(&args.run)).query(&query)?.run().await?;
    let run = followed(asked, cx).await?;
    print::run(&run, cx)
}
