//! `loom agent list`.

use loom_api::{query, routes};
use loom_domain::agent::AgentState;
use serde_json::Value;

use crate::commands::common::Paging;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, pick};

const LISTING: Listing = Listing::new(
    &[
        Column::new("NAME", |v, _| pick::text(v, "name")),
        Column::new("ID", |v, _| pick::text(v, "id")),
        Column::new("STATE", |v, _| pick::text(v, "state")),
        Column::new("RUNTIME", |v, _| pick::text(v, "runtime.kind")),
        Column::number("ADDRESSES", |v, _| pick::number(v, "addressCount").to_string()),
        Column::number("QUEUED", |v, _| pick::number(v, "queued").to_string()),
        Column::number("OLDEST", |v, look| look.seconds(v, "oldestSeconds")),
        Column::new("CURRENT-TURN", |v, _| pick::dash(v, "currentTurn.id")),
    ],
    "no Agents; create one with `loom agent create`",
);

/// List Agents
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom agent list", "loom agent list --state needs_attention --json"))]
pub(crate) struct Args {
    /// Only Agents in this state
    #[arg(long, value_name = "S")]
    state: Option<AgentState>,
    /// Archived ones too
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    paging: Paging,
}

/// Lists them.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let query = query::Agents {
        state: args.state.map(|state| state.to_string()),
        all: args.all.then_some(true),
        limit: args.paging.limit,
        cursor: args.paging.cursor,
    };
    let page: Value = cx.hub()?.get(routes::agents()).query(&query)?.run().await?;
    cx.out.list(&page, &LISTING)
}
