//! `loom turn list`.

use loom_api::routes;
use serde_json::json;

use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, pick};

/// Turns that are shown when no number is given.
const SHOWN: u16 = 20;

const LISTING: Listing = Listing::new(
    &[
        Column::new("TURN", |v, _| pick::text(v, "turn_id")),
        Column::new("KIND", |v, _| pick::text(v, "kind")),
        Column::new("STATE", |v, _| pick::text(v, "state")),
        Column::new("CREATED", |v, look| look.time(v, "created_at")),
        Column::new("CONNECTORS", |v, _| {
            let ids = pick::list(v, "connectors").iter().map(|one| pick::text(one, "connector_id"));
            ids.collect::<Vec<_>>().join(" ")
        }),
        Column::new("KEY", |v, look| look.text(v, "turn_key")),
    ],
    "no Turns yet; run one with `loom turn run --connector ID`",
);

/// List Turns of this home, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom turn list", "loom turn list --limit 100 --json"))]
pub(super) struct Args {
    /// Most Turns, 1 to 1000
    #[arg(long, value_name = "N", default_value_t = SHOWN, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    limit: u16,
}

impl Default for Args {
    fn default() -> Self {
        Args { limit: SHOWN }
    }
}

/// Lists them.
pub(super) async fn run(args: &Args, cx: &mut Context<'_, '_>) -> Outcome {
    if super::remote::is_named(cx) {
        let list = cx.hub()?.get(routes::turns()).run().await?;
        return cx.out.list(&list, &LISTING);
    }
    let turns = super::room(cx).list(usize::from(args.limit));
    let document = json!({"schema_version": "loom.turn_list/v1", "items": turns, "nextCursor": null});
    cx.out.list(&document, &LISTING)
}
