//! `loom agent get`.

use loom_api::routes;
use serde_json::Value;

use crate::cli::parsers;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Show an Agent, its Addresses and its queue
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom agent get docs", "loom agent get docs --json"))]
pub(crate) struct Args {
    /// Agent name or id
    #[arg(value_parser = parsers::agent)]
    agent: String,
}

/// Shows it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let found: Value = cx.hub()?.get(routes::agent(&args.agent)).run().await?;
    if !cx.out.is_human() {
        return cx.out.json(&found);
    }
    let text = |path: &str| pick::text(&found, path);
    cx.out.heading("Agent")?;
    cx.out.fields(&[
        ("name", text("agent.name")),
        ("id", text("agent.id")),
        ("version", text("agent.version")),
        ("state", text("state")),
        ("cwd", text("agent.cwd")),
        ("created", cx.out.look().time(&found, "agent.createdAt")),
    ])?;
    cx.out.heading("Runtime")?;
    cx.out.fields(&[
        ("kind", text("agent.runtime.kind")),
        ("model", text("agent.runtime.model")),
        ("effort", text("agent.runtime.effort")),
        ("sandbox", text("agent.runtime.sandbox")),
        ("approval", text("agent.runtime.approval")),
        ("endpoint", text("agent.runtime.endpoint")),
        ("command", text("agent.runtime.command").replace(',', " ")),
    ])?;
    cx.out.heading("Thread")?;
    cx.out.fields(&[
        ("ref", pick::dash(&found, "agent.threadRef")),
        ("generation", text("agent.threadGeneration")),
        ("labels", text("agent.threadLabels")),
        ("turn", text("currentTurn.id")),
    ])?;
    addresses(&found, cx)?;
    cx.out.heading("Queue")?;
    cx.out.fields(&[
        ("queued", pick::number(&found, "queue.queued").to_string()),
        ("pending access", pick::number(&found, "queue.pendingAccess").to_string()),
        ("needs decision", pick::number(&found, "queue.needsDecision").to_string()),
        ("oldest", cx.out.look().seconds(&found, "queue.oldestSeconds")),
    ])
}

fn addresses(found: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    cx.out.heading("Addresses")?;
    for address in pick::list(found, "addresses") {
        let state = if pick::is(address, "enabled") { "enabled" } else { "disabled" };
        let [id, identity] = ["id", "externalIdentity"].map(|path| pick::text(address, path));
        cx.out.line(&format!("{id}  {identity}  {state}"))?;
    }
    let [enabled, total] = ["memberships.enabled", "memberships.total"].map(|path| pick::number(found, path));
    cx.out.line(&format!("Memberships: {enabled} of {total} enabled"))
}
