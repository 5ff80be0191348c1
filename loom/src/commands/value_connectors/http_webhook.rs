//! `loom value-connectors http-webhook …`: endpoints, deliveries, and what comes in.

mod deliver;
mod endpoint;
mod receive;
mod verify;

use clap::Subcommand;
use loom_domain::Error;

use crate::context::Context;
use crate::failure::Outcome;

/// What to do with webhooks.
#[derive(Debug, Subcommand)]
pub(crate) enum HttpWebhook {
    /// Endpoints that deliveries go to, and routes that they come in by
    #[command(subcommand)]
    Endpoint(endpoint::Command),
    Deliver(deliver::Args),
    Receive(receive::Args),
    Verify(verify::Args),
}

impl HttpWebhook {
    /// Whether a word is one of these commands, and no operation.
    pub(super) fn names(word: &str) -> bool {
        matches!(word, "endpoint" | "deliver" | "receive" | "verify")
    }
}

/// Runs one of them.
pub(super) async fn run(cx: &mut Context<'_, '_>) -> Outcome {
    let hook = cx.hook.take().ok_or_else(|| Error::internal("the command line was not read"))?;
    match *hook {
        HttpWebhook::Endpoint(command) => Box::pin(endpoint::run(command, cx)).await,
        HttpWebhook::Deliver(args) => Box::pin(deliver::run(args, cx)).await,
        HttpWebhook::Receive(args) => Box::pin(receive::run(args, cx)).await,
        HttpWebhook::Verify(args) => Box::pin(verify::run(args, cx)).await,
    }
}
