//! `loom inbox refused`; without a further word it lists.

mod get;
mod list;
mod replay;

use clap::Subcommand;
use loom_domain::{Code, Error};

use crate::context::Context;
use crate::failure::Outcome;

/// See refused messages and why they were refused
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom inbox refused docs --since 24h", "loom inbox refused --counts"))]
pub(crate) struct Refused {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::Filters,
}

/// What to do with refused messages.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    Get(get::Args),
    Replay(replay::Args),
}

/// Runs one of them.
pub(crate) async fn run(refused: Refused, cx: &mut Context<'_, '_>) -> Outcome {
    let Some(command) = refused.command else { return list::run(refused.list, cx).await };
    if refused.list != list::Filters::default() {
        return Err(Error::new(Code::Usage, "filters of the list do not stand before a command").into());
    }
    match command {
        Command::Get(args) => get::run(args, cx).await,
        Command::Replay(args) => replay::run(args, cx).await,
    }
}
