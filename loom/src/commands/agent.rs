//! `loom agent`.

mod archive;
mod create;
mod get;
mod list;
mod pause;
mod rename;
mod restore;
mod resume;
mod update;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Outcome;

/// What to do with Agents.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    Create(create::Args),
    List(list::Args),
    Get(get::Args),
    Rename(rename::Args),
    Update(update::Args),
    Pause(pause::Args),
    Resume(resume::Args),
    Archive(archive::Args),
    Restore(restore::Args),
}

/// Runs one of them.
pub(crate) async fn run(command: Command, cx: &mut Context<'_, '_>) -> Outcome {
    match command {
        Command::Create(args) => create::run(args, cx).await,
        Command::List(args) => list::run(args, cx).await,
        Command::Get(args) => get::run(args, cx).await,
        Command::Rename(args) => rename::run(args, cx).await,
        Command::Update(args) => update::run(args, cx).await,
        Command::Pause(args) => pause::run(args, cx).await,
        Command::Resume(args) => resume::run(args, cx).await,
        Command::Archive(args) => archive::run(args, cx).await,
        Command::Restore(args) => restore::run(args, cx).await,
    }
}
