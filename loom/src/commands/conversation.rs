//! `loom conversation`.

mod archive;
mod disable;
mod discover;
mod enable;
mod get;
mod list;
mod set;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Outcome;

/// What to do with conversations.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    List(list::Args),
    Discover(discover::Args),
    Get(get::Args),
    Set(Box<set::Args>),
    Enable(enable::Args),
    Disable(disable::Args),
    Archive(archive::Args),
}

/// Runs one of them.
pub(crate) async fn run(command: Command, cx: &mut Context<'_, '_>) -> Outcome {
    match command {
        Command::List(args) => list::run(args, cx).await,
        Command::Discover(args) => discover::run(args, cx).await,
        Command::Get(args) => get::run(args, cx).await,
        Command::Set(args) => set::run(*args, cx).await,
        Command::Enable(args) => enable::run(args, cx).await,
        Command::Disable(args) => disable::run(args, cx).await,
        Command::Archive(args) => archive::run(args, cx).await,
    }
}
