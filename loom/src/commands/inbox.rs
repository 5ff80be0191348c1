//! `loom inbox`; without a further word it lists.

mod bulk;
mod cancel;
mod defer;
mod get;
mod list;
mod no_reply;
mod refused;
mod release;
mod reply;
mod retry;

pub(super) use bulk::{Bulk, Selection};

use clap::Subcommand;

use super::common::no_filters;
use crate::context::Context;
use crate::failure::Outcome;

/// See and decide what arrived
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom inbox docs --open", "loom inbox --state needs_decision --json"))]
pub(crate) struct Inbox {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::Filters,
}

/// What to do with what arrived.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    List(list::Args),
    Get(get::Args),
    Reply(reply::Args),
    NoReply(no_reply::Args),
    Defer(defer::Args),
    Retry(retry::Args),
    Cancel(cancel::Args),
    Refused(refused::Refused),
    Release(release::Args),
}

/// Runs one of them.
pub(crate) async fn run(inbox: Inbox, cx: &mut Context<'_, '_>) -> Outcome {
    let Some(command) = inbox.command else { return list::run(inbox.list, cx).await };
    no_filters(&inbox.list)?;
    match command {
        Command::List(args) => list::run(args.filters, cx).await,
        Command::Get(args) => get::run(args, cx).await,
        Command::Reply(args) => Box::pin(reply::run(args, cx)).await,
        Command::NoReply(args) => no_reply::run(args, cx).await,
        Command::Defer(args) => defer::run(args, cx).await,
        Command::Retry(args) => retry::run(args, cx).await,
        Command::Cancel(args) => cancel::run(args, cx).await,
        Command::Refused(args) => refused::run(args, cx).await,
        Command::Release(args) => release::run(args, cx).await,
    }
}
