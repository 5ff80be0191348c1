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
    let call = hub.post(routes::loop_resume(&args.run)).dry_run(cx.globals.dry_run);
    let run: Value = call.json(&json!({}))?.run().await?;
    print::run(&run, cx)
}
