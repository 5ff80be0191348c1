//! `loom conversation get`.

use loom_api::routes;
use serde_json::Value;

use crate::cli::parsers;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Show a Membership with all its fields
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom conversation get mem_01arz3ndektsv4rrffq69g5fav",
    "loom conversation get mem_01arz3ndektsv4rrffq69g5fav --json"
))]
pub(crate) struct Args {
    /// Membership id
    #[arg(value_name = "MEM", value_parser = parsers::membership)]
    membership: String,
}

/// Shows it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let found: Value = cx.hub()?.get(routes::membership(&args.membership)).run().await?;
    if !cx.out.is_human() {
        return cx.out.json(&found);
    }
    let text = |path: &str| pick::text(&found, path);
    let look = cx.out.look();
    let quiet = ["tz", "from", "to"].map(|part| text(&format!("quietHours.{part}"))).join(",");
    cx.out.fields(&[
        ("id", text("id")),
        ("version", text("version")),
        ("address", text("addressId")),
        ("conversation", text("conversationId")),
        ("type", text("conversationType")),
        ("actor", text("actorId")),
        ("name", text("displayName")),
        ("enabled", text("enabled")),
        ("trigger", text("triggerPolicy")),
        ("reply", text("replyPolicy")),
        ("outbound", text("outboundPolicy")),
        ("trust domain", text("trustDomain")),
        ("quiet hours", if quiet == ",," { String::new() } else { quiet }),
        ("ttl seconds", text("ttlSeconds")),
        ("proactive per hour", text("proactivePerHour")),
        ("approved by", text("enabledBy")),
        ("approved", look.time(&found, "firstEnabledAt")),
        ("superseded by", text("supersededBy")),
        ("archived", text("archivedAt")),
        ("created", look.time(&found, "createdAt")),
        ("updated", look.time(&found, "updatedAt")),
    ])?;
    for block in ["purpose", "role", "guidance"] {
        if !text(block).is_empty() {
            cx.out.heading(block)?;
            cx.out.block(&text(block))?;
        }
    }
    Ok(())
}
