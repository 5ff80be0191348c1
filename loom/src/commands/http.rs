//! `loom http`: the transport's door for skills in any language. Nothing is stored.

mod answer;
mod get;
mod options;
mod post;

use clap::Subcommand;
use loom_domain::{Code, Error};

use crate::context::Context;
use crate::failure::Outcome;

/// What to send.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    Get(get::Args),
    Post(post::Args),
}

/// Sends it. An Agent has no grant to name a host by itself.
pub(crate) async fn run(command: Command, cx: &mut Context<'_, '_>) -> Outcome {
    if cx.env.get("LOOM_TURN_ID").is_some() {
        return Err(Error::new(Code::Forbidden, "inside a Turn only granted hosts can be reached")
            .with_hint("Ask the owner for a grant of the http_webhook capability.")
            .into());
    }
    match command {
        Command::Get(args) => Box::pin(get::run(args, cx)).await,
        Command::Post(args) => Box::pin(post::run(args, cx)).await,
    }
}
