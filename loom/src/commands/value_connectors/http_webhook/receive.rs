//! `loom value-connectors http-webhook receive`.

use std::time::Duration;

use loom_api::{query, routes};
use serde_json::Value;

use crate::commands::common::Paging;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, Look, items, pick};

/// Time between two looks.
const EVERY: Duration = Duration::from_secs(1);
/// Events of one page of a look.
const PAGE_MAX: u32 = 100;
/// Pages of one look.
const PAGES_MAX: usize = 100;

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
    "loom value-connectors http-webhook receive --route billing --limit 10",
    "loom value-connectors http-webhook receive --route billing --follow --json"
))]
pub(crate) struct Args {
    /// Route: the name of an endpoint
    #[arg(long, value_name = "NAME")]
    route: String,
    /// Show what comes in from now on, until Ctrl-C
    #[arg(long, conflicts_with_all = ["limit", "cursor"])]
    follow: bool,
    #[command(flatten)]
    paging: Paging,
}

/// Shows it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let Paging { limit, cursor } = args.paging;
    let page = look(&args.route, query::Paging { limit, cursor }, cx).await?;
    if items(&page).is_empty() {
        // What a removed endpoint received is still shown; a route that never was is an error.
        let _: Value = cx.hub()?.get(routes::endpoint(&args.route)).run().await?;
    }
    match args.follow {
        true => follow(&args.route, newest(items(&page)), cx).await,
        false => cx.out.list(&page, &LISTING),
    }
}

async fn follow(route: &str, mut last: u64, cx: &mut Context<'_, '_>) -> Outcome {
    loop {
        tokio::time::sleep(EVERY).await;
        let fresh = since(route, last, cx).await?;
        for event in fresh.iter().rev() {
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
        last = last.max(newest(&fresh));
    }
}

/// What came after `last`, newest first, by as many pages as it takes.
async fn since(route: &str, last: u64, cx: &Context<'_, '_>) -> Outcome<Vec<Value>> {
    let (mut fresh, mut cursor) = (Vec::new(), None);
    for _ in 0..PAGES_MAX {
        let page = look(route, query::Paging { limit: Some(PAGE_MAX), cursor }, cx).await?;
        let all = items(&page).len();
        let new = items(&page).iter().filter(|event| pick::number(event, "seq") > last);
        let before = fresh.len();
        fresh.extend(new.cloned());
        cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        if fresh.len() - before < all || cursor.is_none() {
            break;
        }
    }
    Ok(fresh)
}

async fn look(route: &str, query: query::Paging, cx: &Context<'_, '_>) -> Outcome<Value> {
    Ok(cx.hub()?.get(routes::endpoint_events(route)).query(&query)?.run().await?)
}

fn newest(events: &[Value]) -> u64 {
    events.iter().map(|event| pick::number(event, "seq")).max().unwrap_or(0)
}
