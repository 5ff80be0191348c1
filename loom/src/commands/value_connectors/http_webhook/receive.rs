//! `loom value-connectors http-webhook receive`.

use std::time::Duration;

use loom_api::{query, routes};
use serde_json::Value;

use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, Look, items, pick};

/// Time between two looks.
const EVERY: Duration = Duration::from_secs(1);
/// Events of one look.
const LOOK_MAX: u32 = 100;

const LISTING: Listing = Listing {
    columns: &[
        Column::new("ID", |v, _| pick::text(v, "id")),
        Column::new("AT", |v, look| look.time(v, "at")),
        Column::new("TYPE", |v, _| pick::dash(v, "event_type")),
        Column::new("EVENT", |v, look| look.text(v, "data.event")),
    ],
    below: nothing,
    empty: "nothing was received",
};

fn nothing(_: &Value, _: &Look) -> Vec<String> {
    Vec::new()
}

/// Show what came in by a route
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom value-connectors http-webhook receive --route billing",
    "loom value-connectors http-webhook receive --route billing --follow --json"
))]
pub(crate) struct Args {
    /// Route: the name of an endpoint
    #[arg(long, value_name = "NAME")]
    route: String,
    /// Show what comes in from now on, until Ctrl-C
    #[arg(long)]
    follow: bool,
}

/// Shows it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let page = look(&args.route, cx).await?;
    if !args.follow {
        return cx.out.list(&page, &LISTING);
    }
    let mut last = newest(&page);
    loop {
        tokio::time::sleep(EVERY).await;
        let page = look(&args.route, cx).await?;
        let fresh: Vec<&Value> =
            items(&page).iter().filter(|event| pick::number(event, "seq") > last).collect();
        for event in fresh.into_iter().rev() {
            match cx.out.is_human() {
                true => cx.out.line(&format!(
                    "{} {}",
                    pick::text(event, "at"),
                    pick::text(event, "data.event")
                ))?,
                false => cx.out.json(event)?,
            }
        }
        cx.out.flush()?;
        last = last.max(newest(&page));
    }
}

async fn look(route: &str, cx: &Context<'_, '_>) -> Outcome<Value> {
    let query = query::Paging { limit: Some(LOOK_MAX), cursor: None };
    Ok(cx.hub()?.get(routes::endpoint_events(route)).query(&query)?.run().await?)
}

fn newest(page: &Value) -> u64 {
    items(page).iter().map(|event| pick::number(event, "seq")).max().unwrap_or(0)
}
