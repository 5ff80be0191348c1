//! `loom requests show`.

use loom_domain::Error;
use loom_transport::log::find;
use serde_json::{Value, json};

use super::{dir, unreadable};
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// What is shown to people, with its name.
const SHOWN: &[(&str, &str)] = &[
    ("time", "time"),
    ("run", "run_id"),
    ("turn", "turn_id"),
    ("agent", "agent_id"),
    ("operation", "operation"),
    ("status", "status"),
    ("error", "error_code"),
    ("phase", "phase"),
    ("address", "address"),
    ("sent", "bytes_sent"),
    ("received", "bytes_received"),
    ("duration ms", "duration_ms"),
    ("waited ms", "waited_ms"),
    ("provider's id", "provider_request_id"),
];

/// Show every attempt of one request
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom requests show evt_01arz3ndektsv4rrffq69g5fav",
    "loom requests show evt_01arz3ndektsv4rrffq69g5fav --json"
))]
pub(crate) struct Args {
    /// Id of the request, as the list and errors show it
    #[arg(value_name = "ID")]
    id: String,
}

/// Shows it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let (dir, id) = (dir(cx), args.id.clone());
    let found = tokio::task::spawn_blocking(move || find(&dir, &id)).await.map_err(Error::internal)?;
    let attempts = found.map_err(|error| unreadable(&error))?;
    if attempts.is_empty() {
        return Err(Error::not_found("request", &args.id).with_hint("loom requests list").into());
    }
    if !cx.out.is_human() {
        let document =
            json!({"schema_version": "loom.request/v1", "request_id": args.id, "attempts": attempts});
        return cx.out.json(&document);
    }
    attempts.iter().try_for_each(|attempt| show(attempt, cx))
}

fn show(attempt: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    let text = |member: &str| pick::text(attempt, member);
    let heading = format!("attempt {}: {} {}{}", text("attempt"), text("method"), text("host"), text("path"));
    cx.out.heading(&heading)?;
    let fields: Vec<(&str, String)> = SHOWN.iter().map(|(name, member)| (*name, text(member))).collect();
    cx.out.fields(&fields)
}
