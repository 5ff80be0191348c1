//! `loom status`.

pub(super) mod serve;

use clap::Subcommand;
use loom_api::routes;
use serde_json::Value;

use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Show the hub and what waits in it
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom status", "loom status --json"))]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    Serve(serve::Args),
}

impl Args {
    /// Whether it serves until it is stopped.
    pub(super) fn serves(&self) -> bool {
        self.command.is_some()
    }
}

/// Shows it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    if let Some(Command::Serve(args)) = args.command {
        return serve::run(args, cx).await;
    }
    let found: Value = cx.hub()?.get(routes::status()).run().await?;
    if !cx.out.is_human() {
        return cx.out.json(&found);
    }
    let look = cx.out.look();
    let text = |path: &str| pick::text(&found, path);
    let count = |path: &str| pick::number(&found, path);
    cx.out.fields(&[
        ("hub", format!("{} (loom {}, pid {})", text("state"), text("version"), pick::dash(&found, "pid"))),
        ("up", look.time(&found, "startedAt")),
        ("listens", text("listen").replace(',', ", ")),
        ("store", text("store")),
        (
            "agents",
            format!(
                "{} ({} running, {} paused)",
                count("agents.total"),
                count("agents.running"),
                count("agents.paused")
            ),
        ),
        (
            "connections",
            format!(
                "{} ({} connected, {} degraded, {} down, {} disabled)",
                count("connections.total"),
                count("connections.connected"),
                count("connections.degraded"),
                count("connections.down"),
                count("connections.disabled"),
            ),
        ),
        (
            "inbox",
            format!(
                "{} queued, {} handling, {} pending access, {} need a decision; oldest {}",
                count("inbox.queued"),
                count("inbox.handling"),
                count("inbox.pendingAccess"),
                count("inbox.needsDecision"),
                look.seconds(&found, "inbox.oldestSeconds"),
            ),
        ),
        (
            "outbox",
            format!(
                "{} open, {} held, {} unknown, {} dead",
                count("outbox.open"),
                count("outbox.held"),
                count("outbox.unknown"),
                count("outbox.dead"),
            ),
        ),
        ("notices", count("notices").to_string()),
    ])
}
