//! `loom inbox no-reply`.

use loom_api::{request, routes};
use serde_json::Value;

use crate::cli::parsers;
use crate::context::Context;
use crate::failure::Outcome;

/// Decide that an item gets no reply
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom inbox no-reply inb_01arz3ndektsv4rrffq69g5fav",
    "loom inbox no-reply inb_01arz3ndektsv4rrffq69g5fav --reason \"only thanks\""
))]
pub(crate) struct Args {
    /// Item id
    #[arg(value_parser = parsers::inbox)]
    id: String,
    /// Agent that decides
    #[arg(long, value_name = "A", value_parser = parsers::agent)]
    agent: Option<String>,
    /// A short remark
    #[arg(long, value_name = "T")]
    reason: Option<String>,
}

/// Decides it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let body = request::NoReply { agent: args.agent, reason: args.reason };
    let hub = cx.hub()?;
    let call = hub.post(routes::inbox_no_reply(&args.id)).dry_run(cx.globals.dry_run);
    let done: Value = call.json(&body)?.run().await?;
    cx.out.mutation(&done)
}
