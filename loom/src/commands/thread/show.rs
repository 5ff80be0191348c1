//! `loom thread show`.

use loom_api::{query, routes};
use loom_domain::Timestamp;
use serde_json::Value;

use crate::cli::parsers;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, pick};

const LISTING: Listing = Listing::new(
    &[
        Column::new("TURN", |v, _| pick::text(v, "id")),
        Column::new("ORIGIN", |v, _| pick::dash(v, "origin")),
        Column::new("ITEM", |v, _| pick::text(v, "itemId")),
        Column::new("STATE", |v, _| pick::text(v, "state")),
        Column::new("STARTED", |v, look| look.time(v, "createdAt")),
        Column::number("SECONDS", |v, _| seconds(v)),
        Column::new("ANSWER", |v, look| look.text(v, "answer")),
    ],
    "no Turns yet",
);

/// Show the newest Turns of an Agent
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom thread show docs", "loom thread show docs --turns 100 --json"))]
pub(crate) struct Args {
    /// Agent name or id
    #[arg(value_parser = parsers::agent)]
    agent: String,
    /// Turns, 1 to 200
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
    turns: u32,
}

/// Shows them.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let query = query::Paging { limit: Some(args.turns), cursor: None };
    let page: Value = cx.hub()?.get(routes::thread(&args.agent)).query(&query)?.run().await?;
    cx.out.list(&page, &LISTING)
}

fn seconds(turn: &Value) -> String {
    let time = |path: &str| pick::text(turn, path).parse::<Timestamp>().ok();
    match (time("createdAt"), time("endedAt")) {
        (Some(start), Some(end)) => (end.since_ms(start) / 1_000).to_string(),
        _ => "-".to_owned(),
    }
}
