//! `loom thread`.

mod send;
mod show;
mod tail;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Outcome;

/// What to do with an Agent's Thread.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    Show(show::Args),
    Tail(tail::Args),
    Send(send::Args),
}

/// Runs one of them.
pub(crate) async fn run(command: Command, cx: &mut Context<'_, '_>) -> Outcome {
    match command {
        Command::Show(args) => show::run(args, cx).await,
        Command::Tail(args) => tail::run(args, cx).await,
        Command::Send(args) => send::run(args, cx).await,
    }
}
