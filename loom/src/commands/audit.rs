//! `loom audit`.

mod list;
mod verify;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Outcome;

/// What to do with the audit chain.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    List(list::Args),
    Verify(verify::Args),
}

/// Runs one of them.
pub(crate) async fn run(command: Command, cx: &mut Context<'_, '_>) -> Outcome {
    match command {
        Command::List(args) => list::run(args, cx).await,
        Command::Verify(args) => verify::run(args, cx).await,
    }
}
