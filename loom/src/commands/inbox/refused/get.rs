//! `loom inbox refused get`.

use loom_api::routes;
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::policy::STEPS;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Show every step of one judgement
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom inbox refused get evt_01arz3ndektsv4rrffq69g5fav",
    "loom inbox refused get evt_01arz3ndektsv4rrffq69g5fav --json"
))]
pub(crate) struct Args {
    /// Event id
    #[arg(value_name = "EVT", value_parser = parsers::event)]
    event: String,
}

/// Shows it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let found: Value = cx.hub()?.get(routes::refusal(&args.event)).run().await?;
    if !cx.out.is_human() {
        return cx.out.json(&found);
    }
    let look = cx.out.look();
    let text = |path: &str| pick::text(&found, path);
    cx.out.fields(&[
        ("event", text("event.id")),
        ("reason", text("event.reason")),
        ("step", text("event.step")),
        ("conversation", text("event.inbound.conversation.conversationId")),
        ("actor", text("event.inbound.sender.externalId")),
        ("received", look.time(&found, "event.receivedAt")),
    ])?;
    cx.out.table(STEPS, pick::list(&found, "steps"), |_, _| Vec::new())
}
