//! `loom outbox get`.

use loom_api::routes;
use serde_json::Value;

use super::list::tries;
use crate::cli::parsers;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, pick};

const PARTS: &[Column] = &[
    Column::number("PART", |v, _| pick::text(v, "n")),
    Column::new("ID", |v, _| pick::text(v, "id")),
    Column::new("KIND", |v, _| pick::text(v, "kind")),
    Column::new("STATE", |v, _| pick::state(v, "state", "blockedBy")),
    Column::number("ATTEMPTS", |v, _| tries(v).to_string()),
    Column::new("NEXT", |v, look| look.time(v, "until")),
    Column::new("EXTERNAL-MESSAGE", |v, _| pick::dash(v, "receipt.externalMessageId")),
    Column::new("EXTERNAL-FILE", |v, _| pick::dash(v, "receipt.externalFileId")),
    Column::new("VIA", |v, _| pick::dash(v, "receipt.via")),
    Column::new("ERROR", |v, _| pick::dash(v, "lastError.code")),
];

const ATTEMPTS: &[Column] = &[
    Column::new("ATTEMPT", |v, _| pick::text(v, "id")),
    Column::new("PART", |v, _| pick::text(v, "partId")),
    Column::new("STEP", |v, _| pick::text(v, "step")),
    Column::new("OUTCOME", |v, _| pick::text(v, "outcome")),
    Column::new("STARTED", |v, look| look.time(v, "startedAt")),
    Column::new("ERROR", |v, look| look.text(v, "error.message")),
];

/// Show an item with its Parts and Receipts
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom outbox get out_01arz3ndektsv4rrffq69g5fav",
    "loom outbox get out_01arz3ndektsv4rrffq69g5fav --json"
))]
pub(crate) struct Args {
    /// Item id
    #[arg(value_parser = parsers::outbox)]
    id: String,
}

/// Shows it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let found: Value = cx.hub()?.get(routes::outbox_item(&args.id)).run().await?;
    if !cx.out.is_human() {
        return cx.out.json(&found);
    }
    let text = |path: &str| pick::text(&found, path);
    let look = cx.out.look();
    cx.out.fields(&[
        ("item", text("id")),
        ("version", text("version")),
        ("state", pick::state(&found, "state", "stateReason")),
        ("agent", text("agentName")),
        ("answers", text("inboxItemId")),
        ("membership", text("membershipId")),
        ("provider", text("conversation.provider")),
        ("conversation", text("conversation.conversationId")),
        ("thread", text("target.threadId")),
        ("key", text("idempotencyKey")),
        ("expects", text("expectReply")),
        ("reply", text("replyState")),
        ("labels", text("labels")),
        ("held until", text("heldUntil")),
        ("superseded by", text("supersededBy")),
        ("error", text("lastError.message")),
        ("trace", text("traceId")),
        ("created", look.time(&found, "createdAt")),
        ("expires", look.time(&found, "expiresAt")),
    ])?;
    if !text("text").is_empty() {
        cx.out.heading("Text")?;
        cx.out.block(&text("text"))?;
    }
    cx.out.table(PARTS, pick::list(&found, "parts"), |_, _| Vec::new())?;
    match pick::list(&found, "attempts") {
        [] => Ok(()),
        attempts => cx.out.table(ATTEMPTS, attempts, |_, _| Vec::new()),
    }
}
