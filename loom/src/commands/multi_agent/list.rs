//! `loom multi-agent list`.

use loom_api::routes;
use loom_domain::Code;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, pick};

const LISTING: Listing = Listing::new(
    &[
        Column::new("RUN", |v, _| pick::text(v, "run_id")),
        Column::new("LOOP", |v, _| pick::text(v, "id")),
        Column::new("STATE", |v, _| pick::text(v, "state")),
        Column::new("REASON", |v, _| pick::dash(v, "reason")),
        Column::number("ROUNDS", |v, _| pick::text(v, "rounds")),
        Column::number("TURNS", |v, _| pick::text(v, "turns")),
        Column::new("STARTED", |v, look| look.time(v, "started_at")),
    ],
    "no runs yet; begin one with `loom multi-agent run FILE`",
);

/// List runs, newest first
#[derive(Debug, Default, clap::Args)]
#[command(after_help = examples!("loom multi-agent list", "loom multi-agent list --json"))]
pub(super) struct Args {}

/// Lists them.
pub(super) async fn run(_: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let list: Value = cx.hub()?.get(routes::loops()).run().await?;
    cx.out.list(&list, &LISTING)
}

/// Lists them; without a hub it says so, and ends well.
pub(super) async fn overview(cx: &mut Context<'_, '_>) -> Outcome {
    match cx.hub()?.get(routes::loops()).run().await {
        Ok(list) => cx.out.list(&list, &LISTING),
        Err(error) if error.code == Code::HubUnreachable => {
            cx.out.note("the hub does not run; `loom up` starts it")?;
            let empty = json!({
                "schema_version": "loom.multi_agent_list/v1", "items": [], "nextCursor": null, "hub": "not_running",
            });
            cx.out.list(&empty, &LISTING)
        }
        Err(error) => Err(error.into()),
    }
}
