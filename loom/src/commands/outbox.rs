//! `loom outbox`; without a further word it lists.

mod cancel;
mod get;
mod list;
mod retry;
mod settle;

use clap::Subcommand;

use super::common::no_filters;
use crate::context::Context;
use crate::failure::Outcome;

/// See and settle what was sent
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom outbox docs", "loom outbox --dead --json"))]
pub(crate) struct Outbox {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::Filters,
}

/// What to do with what was sent.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    List(list::Args),
    Get(get::Args),
    Retry(retry::Args),
    Cancel(cancel::Args),
    Settle(settle::Args),
}

/// Runs one of them.
pub(crate) async fn run(outbox: Outbox, cx: &mut Context<'_, '_>) -> Outcome {
    let Some(command) = outbox.command else { return list::run(outbox.list, cx).await };
    no_filters(&outbox.list)?;
    match command {
        Command::List(args) => list::run(args.filters, cx).await,
        Command::Get(args) => get::run(args, cx).await,
        Command::Retry(args) => retry::run(args, cx).await,
        Command::Cancel(args) => cancel::run(args, cx).await,
        Command::Settle(args) => settle::run(args, cx).await,
    }
}
