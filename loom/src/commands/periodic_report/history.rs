//! `loom periodic-report history`.

use loom_api::routes;
use loom_domain::Code;
use loom_hub::{home::Home, reports::Shelf};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, pick};

const LISTING: Listing = Listing::new(
    &[
        Column::new("REPORT", |v, _| pick::text(v, "report_id")),
        Column::new("PROFILE", |v, _| pick::text(v, "profile")),
        Column::new("FROM", |v, _| pick::text(v, "start")),
        Column::new("BEFORE", |v, _| pick::text(v, "end")),
        Column::new("ZONE", |v, _| pick::text(v, "zone")),
    ],
    "no report was made",
);

/// List reports, the newest window first
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom periodic-report history", "loom periodic-report history --json"))]
pub(super) struct Args {}

/// Lists them.
pub(super) async fn run(_args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let found = cx.hub()?.get(routes::reports()).run::<Value>().await;
    let page = match found {
        Err(error) if error.code == Code::HubUnreachable => {
            let lines = Shelf::new(&Home::new(cx.env.home())).list()?;
            json!({"schema_version": "loom.report_history/v1", "items": lines, "next_cursor": null})
        }
        found => found?,
    };
    cx.out.list(&page, &LISTING)
}
