//! `loom thread tail`.

use loom_api::{query, routes};
use loom_domain::{Code, Error};
use serde_json::Value;

use crate::cli::parsers;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Print Turn events, one a line
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom thread tail docs --follow", "loom thread tail docs --since 8120 --format ndjson"))]
pub(crate) struct Args {
    /// Agent name or id
    #[arg(value_parser = parsers::agent)]
    agent: String,
    /// Go on with new events until Ctrl-C
    #[arg(long)]
    follow: bool,
    /// Only events after this sequence number
    #[arg(long, value_name = "SEQ")]
    since: Option<u64>,
}

/// Prints them; Ctrl-C is the usual end.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    tokio::select! {
        outcome = tail(args, cx) => outcome,
        _ = tokio::signal::ctrl_c() => Ok(()),
    }
}

async fn tail(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let query = query::Events { since: args.since, follow: Some(args.follow), ..query::Events::default() };
    let mut stream = cx.hub()?.get(routes::thread_events(&args.agent)).query(&query)?.stream(None).await?;
    while let Some(frame) = stream.next().await? {
        if frame.event.as_deref() == Some("reset") {
            cx.out.note("older events are gone; the stream starts later")?;
            continue;
        }
        let event: Value = serde_json::from_str(&frame.data).map_err(|error| {
            Error::new(Code::ProtocolVersion, format!("an event could not be read: {error}"))
        })?;
        if cx.out.is_human() {
            cx.out.line(&sentence(&event))?;
        } else {
            cx.out.json(&event)?;
        }
        cx.out.flush()?;
    }
    Ok(())
}

fn sentence(event: &Value) -> String {
    let [seq, kind, id] = ["seq", "type", "id"].map(|path| pick::text(event, path));
    let what = match pick::text(event, "object.text") {
        text if text.is_empty() => pick::text(event, "changed").replace(',', ", "),
        text => text,
    };
    format!("{seq} {kind} {id} {what}")
}
