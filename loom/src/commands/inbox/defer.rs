//! `loom inbox defer`.

use loom_api::{request, routes};
use loom_domain::Timestamp;
use serde_json::Value;

use crate::cli::parsers;
use crate::context::Context;
use crate::failure::Outcome;

/// Put an item off
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("when").required(true).args(["until", "for"])))]
#[command(after_help = examples!(
    "loom inbox defer inb_01arz3ndektsv4rrffq69g5fav --for 2h",
    "loom inbox defer inb_01arz3ndektsv4rrffq69g5fav \\\n      --until 2027-01-31T09:00:00Z --reason \"office opens\""
))]
pub(crate) struct Args {
    /// Item id
    #[arg(value_parser = parsers::inbox)]
    id: String,
    /// Agent that decides
    #[arg(long, value_name = "A", value_parser = parsers::agent)]
    agent: Option<String>,
    /// Until this time
    #[arg(long, value_name = "RFC3339", value_parser = parsers::time)]
    until: Option<Timestamp>,
    /// For this long
    #[arg(long, value_name = "D", value_parser = parsers::seconds)]
    r#for: Option<u64>,
    /// A short remark
    #[arg(long, value_name = "T")]
    reason: Option<String>,
}

/// Puts it off.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let body =
        request::Defer { agent: args.agent, until: args.until, for_seconds: args.r#for, reason: args.reason };
    let hub = cx.hub()?;
    let call = hub.post(routes::inbox_defer(&args.id)).dry_run(cx.globals.dry_run);
    let done: Value = call.json(&body)?.run().await?;
    cx.out.mutation(&done)
}
