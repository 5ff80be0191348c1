//! `loom multi-agent resume`.

use loom_api::routes;
use serde_json::{Value, json};

use super::print;
use crate::context::Context;
use crate::failure::Outcome;

/// Go on with a run that was stopped
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom multi-agent resume op_01arz3ndektsv4rrffq69g5fav",
    "loom multi-agent resume op_01arz3ndektsv4rrffq69g5fav --json"
))]
pub(super) struct Args {
    /// Run
    #[arg(value_name = "RUN")]
    run: String,
}

/// Goes on with it; finished lane-rounds are not repeated. A run that ended otherwise is refused.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let hub = cx.hub()?;
    let run: Value = match cx.globals.dry_run {
        true => hub.get(routes::loop_run(&args.run)).run().await?,
        false => hub.post(routes::loop_resume(&args.run)).json(&json!({}))?.run().await?,
    };
    print::run(&run, cx)
}
