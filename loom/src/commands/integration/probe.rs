//! `loom integration probe`.

use loom_api::routes;
use loom_domain::Code;
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::planned;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::output::pick;

/// Ask a Connection for proof of life now
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom integration probe con_01arz3ndektsv4rrffq69g5fav",
    "loom integration probe con_01arz3ndektsv4rrffq69g5fav --json"
))]
pub(crate) struct Args {
    /// Connection id
    #[arg(value_name = "CON", value_parser = parsers::connection)]
    connection: String,
}

/// Probes it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    if cx.globals.dry_run {
        return planned(cx, "one liveness and history probe would run", &[args.connection]);
    }
    let found: Value = cx.hub()?.post(routes::connection_probe(&args.connection)).run().await?;
    let ok = pick::is(&found, "ok");
    if cx.out.is_human() {
        for check in pick::list(&found, "checks").iter().filter_map(Value::as_str) {
            cx.out.line(check)?;
        }
        let state = pick::state(&found, "health.state", "health.reason");
        cx.out.line(&format!("{}: {state}", if ok { "alive" } else { "not alive" }))?;
    } else {
        cx.out.json(&found)?;
    }
    if ok { Ok(()) } else { Err(Failure::of(Code::GatewayUnavailable)) }
}
