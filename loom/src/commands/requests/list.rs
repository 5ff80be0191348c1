//! `loom requests list`.

use loom_domain::{Error, Result, Timestamp, time::parse_duration_ms};
use loom_transport::log::{Wanted, latest};
use serde_json::json;

use super::{dir, unreadable};
use crate::cli::parsers;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, pick};

const LISTING: Listing = Listing::new(
    &[
        Column::new("TIME", |v, _| pick::text(v, "time")),
        Column::new("REQUEST", |v, _| pick::text(v, "request_id")),
        Column::new("METHOD", |v, _| pick::text(v, "method")),
        Column::new("HOST", |v, _| pick::text(v, "host")),
        Column::new("PATH", |v, _| pick::text(v, "path")),
        Column::new("STATUS", |v, _| pick::dash(v, "status")),
        Column::new("ERROR", |v, _| pick::dash(v, "error_code")),
        Column::new("MS", |v, _| pick::text(v, "duration_ms")),
    ],
    "no request was logged",
);

/// List requests to other hosts, the newest first
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom requests list --since 1h", "loom requests list --host slack.com --json"))]
pub(crate) struct Args {
    /// Only those of a Turn
    #[arg(long, value_name = "ID")]
    turn: Option<String>,
    /// Only those of a run
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// Only those to a host
    #[arg(long, value_name = "H")]
    host: Option<String>,
    /// Only those since then: a duration or an RFC 3339 time
    #[arg(long, value_name = "T", value_parser = parsers::since)]
    since: Option<String>,
    /// At most that many, 1 to 500
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=500))]
    limit: u16,
}

/// Lists them.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let now = cx.env.now;
    let since = args.since.as_deref().map(|text| time_of(text, now)).transpose()?;
    let wanted = Wanted {
        turn_id: args.turn,
        run_id: args.run,
        host: args.host.map(|host| host.to_ascii_lowercase()),
        since,
        request_id: None,
    };
    let dir = dir(cx);
    let read = move || latest(&dir, &wanted, usize::from(args.limit));
    let items = tokio::task::spawn_blocking(read).await.map_err(Error::internal)?;
    let items = items.map_err(|error| unreadable(&error))?;
    cx.out.list(&json!({"schema_version": "loom.requests/v1", "items": items, "nextCursor": null}), &LISTING)
}

/// A time, or a duration before now.
fn time_of(text: &str, now: Timestamp) -> Result<Timestamp> {
    match text.parse() {
        Ok(time) => Ok(time),
        Err(_) => Ok(Timestamp(now.0.saturating_sub(parse_duration_ms(text)?))),
    }
}
