//! `loom policy replay`.

use loom_api::{request, routes};
use serde_json::Value;

use crate::cli::parsers;
use crate::context::Context;
use crate::failure::Outcome;
use crate::input::document;
use crate::output::{Column, Listing, pick};

const LISTING: Listing = Listing::new(
    &[
        Column::new("EVT", |v, _| pick::text(v, "eventId")),
        Column::new("BEFORE", |v, _| pick::state(v, "before.decision", "before.reason")),
        Column::new("AFTER", |v, _| pick::state(v, "after.decision", "after.reason")),
    ],
    "no decision changes",
);

/// Judge stored messages under a draft
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom policy replay --since 24h --draft draft.json",
    "loom policy replay --since 7d --agent docs --draft draft.json --json"
))]
pub(crate) struct Args {
    /// Not older than this
    #[arg(long, value_name = "D", value_parser = parsers::since)]
    since: String,
    /// Only this Agent
    #[arg(long, value_name = "A", value_parser = parsers::agent)]
    agent: Option<String>,
    /// JSON of whole connections, addresses, memberships; or -
    #[arg(long, value_name = "FILE")]
    draft: String,
}

/// Judges them.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let draft = document::read_json(&args.draft, cx.env)?;
    let body = request::PolicyReplay { since: args.since, agent: args.agent, draft };
    let found: Value = cx.hub()?.post(routes::policy_replay()).json(&body)?.run().await?;
    cx.out.list(&found, &LISTING)?;
    cx.out.note(&format!("{} messages judged", pick::number(&found, "judged")))
}
