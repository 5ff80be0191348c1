//! `loom value-connectors plans`.

use loom_api::{query, routes};
use serde_json::Value;

use crate::commands::common::Paging;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, Look, pick};

const LISTING: Listing = Listing {
    columns: &[
        Column::new("ID", |v, _| pick::text(v, "id")),
        Column::new("BY", |v, _| pick::dash(v, "agent_id")),
        Column::new("AT", |v, look| look.time(v, "created_at")),
        Column::new("WAITS FOR", |v, _| pick::text(v, "projection.waiting_on")),
        Column::new("OBJECTIVE", |v, look| look.text(v, "objective")),
    ],
    below,
    empty: "no plans",
};

/// List submitted plans and their gates
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom value-connectors plans", "loom value-connectors plans --json"))]
pub(super) struct Args {
    #[command(flatten)]
    paging: Paging,
}

/// Lists them.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let query = query::Paging { limit: args.paging.limit, cursor: args.paging.cursor };
    let page: Value = cx.hub()?.get(routes::plans()).query(&query)?.run().await?;
    cx.out.list(&page, &LISTING)
}

fn below(plan: &Value, _look: &Look) -> Vec<String> {
    let gate = |gate: &Value| ["id", "call_id", "state"].map(|name| pick::text(gate, name)).join("  ");
    pick::list(plan, "gates").iter().map(gate).collect()
}
