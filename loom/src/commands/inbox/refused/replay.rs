//! `loom inbox refused replay`.

use loom_api::{Client, LIMIT_MAX, query, routes};
use loom_domain::reason::EventReason;
use loom_domain::{Code, Error};
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::ids;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::output::{items, pick};

/// Most Events one command judges again.
const REPLAY_EVENTS_MAX: usize = 10_000;

/// Judge refused messages again
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom inbox refused replay evt_01arz3ndektsv4rrffq69g5fav",
    "loom inbox refused replay --all --reason membership_missing --since 1h --yes"
))]
pub(crate) struct Args {
    /// Event id
    #[arg(value_name = "EVT", value_parser = parsers::event)]
    event: Option<String>,
    /// All that the filters find; needs --yes
    #[arg(long, conflicts_with = "event")]
    all: bool,
    /// Only this reason, with --all
    #[arg(long, value_name = "CODE", requires = "all")]
    reason: Option<EventReason>,
    /// Not older than this, with --all
    #[arg(long, value_name = "D", requires = "all", value_parser = parsers::since)]
    since: Option<String>,
}

/// Judges them again.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let hub = cx.hub()?;
    let events = match (&args.event, args.all) {
        (Some(event), _) => vec![event.clone()],
        (None, true) => {
            let found = find(&args, &hub).await?;
            cx.confirmed(&format!("replay {} refused messages", found.len()))?;
            found
        }
        (None, false) => return Err(Error::new(Code::MissingField, "give an evt_ id or --all").into()),
    };
    let mut failed = None;
    for event in &events {
        let call = hub.post(routes::refusal_replay(event)).dry_run(cx.globals.dry_run);
        match call.run::<Value>().await {
            Ok(done) => show(&done, cx)?,
            Err(error) if events.len() == 1 => return Err(error.into()),
            Err(error) => {
                cx.out.note(&format!("{event}: {error}"))?;
                failed = failed.or(Some(error.code));
            }
        }
    }
    failed.map_or(Ok(()), |code| Err(Failure::of(code)))
}

async fn find(args: &Args, hub: &Client) -> Outcome<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    let mut cursor = None;
    loop {
        let query = query::Refusals {
            reason: args.reason.map(|reason| reason.to_string()),
            since: args.since.clone(),
            limit: Some(LIMIT_MAX),
            cursor,
            ..query::Refusals::default()
        };
        let page: Value = hub.get(routes::refusals()).query(&query)?.run().await?;
        found.extend(ids(items(&page), "id"));
        cursor = Some(pick::text(&page, "nextCursor")).filter(|cursor| !cursor.is_empty());
        if cursor.is_none() || found.len() >= REPLAY_EVENTS_MAX {
            found.truncate(REPLAY_EVENTS_MAX);
            return Ok(found);
        }
    }
}

fn show(done: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    if !cx.out.is_human() {
        return cx.out.json(done);
    }
    let [event, decision, reason, item] =
        ["eventId", "decision", "reason", "itemId"].map(|path| pick::text(done, path));
    cx.out.line(&format!("{event} {decision}({reason}) {item}"))
}
