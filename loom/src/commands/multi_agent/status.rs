//! `loom multi-agent status`.

use loom_api::routes;
use serde_json::Value;

use super::print;
use crate::context::Context;
use crate::failure::Outcome;

/// Show a run: its lanes, rounds and budget
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom multi-agent status op_01arz3ndektsv4rrffq69g5fav",
    "loom multi-agent status op_01arz3ndektsv4rrffq69g5fav --json"
))]
pub(super) struct Args {
    /// Run
    #[arg(value_name = "RUN")]
    run: String,
}

/// Shows it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let run: Value = cx.hub()?.get(routes::loop_run(&args.run)).run().await?;
    print::run(&run, cx)
}
