//! `loom value-connectors run`.

use loom_api::{request, routes};
use loom_domain::Code;
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::planned;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::output::pick;

/// Seconds that the hub is waited for.
const WAIT_SECONDS: u64 = 60;

/// Run a plan; gated calls need approval
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom value-connectors run op_01arz3ndektsv4rrffq69g5fav",
    "loom value-connectors run op_01arz3ndektsv4rrffq69g5fav --call call-1 --json"
))]
pub(super) struct Args {
    /// Plan id
    #[arg(value_name = "PLAN_ID", value_parser = parsers::plan)]
    plan: String,
    /// One call; else all of them
    #[arg(long, value_name = "CALL_ID")]
    call: Option<String>,
}

/// Runs it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    if cx.globals.dry_run {
        return planned(cx, "run", &[args.plan]);
    }
    let body = request::RunPlan { call_id: args.call };
    let hub = cx.hub()?;
    let call = hub.post(routes::plan_run(&args.plan)).wait(WAIT_SECONDS);
    let plan: Value = call.json(&body)?.run().await?;
    cx.out.connector_plan(&plan)?;
    if pick::is(&plan, "running") {
        return Err(Failure::of(Code::WaitTimeout));
    }
    let codes = pick::list(&plan, "runs").iter().filter_map(|run| run.pointer("/error/code"));
    let mut codes = codes.filter_map(|code| Code::parse(code.as_str()?));
    codes.next().map_or(Ok(()), |code| Err(Failure::of(code)))
}
