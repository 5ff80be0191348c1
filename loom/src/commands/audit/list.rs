//! `loom audit list`.

use loom_api::{query, routes};
use serde_json::Value;

use crate::commands::common::Paging;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, pick};

const LISTING: Listing = Listing::new(
    &[
        Column::number("SEQ", |v, _| pick::text(v, "seq")),
        Column::new("AT", |v, look| look.time(v, "at")),
        Column::new("PRINCIPAL", |v, _| pick::text(v, "principal")),
        Column::new("ACTION", |v, _| pick::text(v, "action")),
        Column::new("OBJECT", |v, _| pick::dash(v, "object")),
    ],
    "no audited changes",
);

/// List audited changes, oldest first
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom audit list", "loom audit list --since 8120 --format ndjson"))]
pub(crate) struct Args {
    /// Only rows after this sequence number
    #[arg(long, value_name = "SEQ")]
    since: Option<u64>,
    #[command(flatten)]
    paging: Paging,
}

/// Lists them.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let query = query::Audit { since: args.since, limit: args.paging.limit, cursor: args.paging.cursor };
    let page: Value = cx.hub()?.get(routes::audit()).query(&query)?.run().await?;
    cx.out.list(&page, &LISTING)
}
