//! `loom integration test`.

use loom_api::{request, routes};
use loom_domain::Code;
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::planned;
use crate::commands::delivery::{self, Waiting};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::output::pick;

/// Send a check message, or wait for one
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom integration test mem_01arz3ndektsv4rrffq69g5fav",
    "loom integration test mem_01arz3ndektsv4rrffq69g5fav --inbound"
))]
pub(crate) struct Args {
    /// Membership id
    #[arg(value_name = "MEMBERSHIP_ID", value_parser = parsers::membership)]
    membership: String,
    /// Wait for a message with a code instead of sending one
    #[arg(long)]
    inbound: bool,
    /// Longest wait, at most 120s
    #[arg(long, value_name = "D", value_parser = parsers::seconds, default_value = "30s")]
    timeout: u64,
}

/// Tests it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    if cx.globals.dry_run {
        return planned(cx, "a check message would be sent", &[args.membership]);
    }
    let hub = cx.hub()?;
    let waiting = Waiting { r#async: false, timeout: args.timeout };
    let body = request::TestMembership { inbound: args.inbound, timeout_seconds: Some(args.timeout) };
    let wait = if args.inbound { args.timeout } else { waiting.first_seconds() };
    let call = hub.post(routes::membership_test(&args.membership)).wait(wait).json(&body)?;
    let found: Value = call.run().await?;
    if args.inbound { inbound(&found, cx) } else { delivery::follow(found, &waiting, &hub, cx).await }
}

fn inbound(found: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    if cx.out.is_human() {
        cx.out.line(&format!("code {}", pick::text(found, "code")))?;
        for step in pick::list(found, "path").iter().filter_map(Value::as_str) {
            cx.out.line(step)?;
        }
    } else {
        cx.out.json(found)?;
    }
    if pick::is(found, "received") { Ok(()) } else { Err(Failure::of(Code::WaitTimeout)) }
}
