//! `loom notices`; without a further word it lists.

mod ack;
mod list;

use clap::Subcommand;

use super::common::no_filters;
use crate::context::Context;
use crate::failure::Outcome;

/// See what Loom wants its owner to know
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom notices", "loom notices --all --json"))]
pub(crate) struct Notices {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::Filters,
}

/// What to do with Notices.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    List(list::Args),
    Ack(ack::Args),
}

/// Runs one of them.
pub(crate) async fn run(notices: Notices, cx: &mut Context<'_, '_>) -> Outcome {
    let Some(command) = notices.command else { return list::run(notices.list, cx).await };
    no_filters(&notices.list)?;
    match command {
        Command::List(args) => list::run(args.filters, cx).await,
        Command::Ack(args) => ack::run(args, cx).await,
    }
}
