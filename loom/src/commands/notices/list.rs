//! `loom notices list`.

use loom_api::{query, routes};
use serde_json::Value;

use crate::commands::common::Paging;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, Look, pick};

const LISTING: Listing = Listing {
    columns: &[
        Column::new("ID", |v, _| pick::text(v, "id")),
        Column::new("KIND", |v, _| pick::text(v, "kind")),
        Column::new("AT", |v, look| look.time(v, "createdAt")),
        Column::new("OBJECT", |v, _| pick::dash(v, "object")),
        Column::new("TEXT", |v, look| look.text(v, "text")),
    ],
    below,
    empty: "no Notices",
};

/// List Notices, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom notices list", "loom notices list --all --limit 10"))]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) filters: Filters,
}

/// Which Notices.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct Filters {
    /// Acknowledged ones too
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    paging: Paging,
}

/// Lists them.
pub(super) async fn run(args: Filters, cx: &mut Context<'_, '_>) -> Outcome {
    let all = args.all.then_some(true);
    let query = query::Notices { all, limit: args.paging.limit, cursor: args.paging.cursor };
    let page: Value = cx.hub()?.get(routes::notices()).query(&query)?.run().await?;
    cx.out.list(&page, &LISTING)
}

fn below(notice: &Value, _look: &Look) -> Vec<String> {
    match pick::text(notice, "hint") {
        hint if hint.is_empty() => Vec::new(),
        hint => vec![hint],
    }
}
