//! `loom inbox retry`.

use loom_api::{request, routes};

use super::{Bulk, Selection};
use crate::cli::parsers;
use crate::commands::common::each;
use crate::context::Context;
use crate::failure::Outcome;

/// Handle an item again
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom inbox retry inb_01arz3ndektsv4rrffq69g5fav",
    "loom inbox retry --all --state failed --yes"
))]
pub(crate) struct Args {
    /// Item id
    #[arg(value_parser = parsers::inbox)]
    id: Option<String>,
    /// Agent that decides
    #[arg(long, value_name = "A", value_parser = parsers::agent)]
    agent: Option<String>,
    /// Retry although part of an earlier reply arrived
    #[arg(long)]
    after_partial: bool,
    #[command(flatten)]
    bulk: Bulk,
}

/// Retries it, or all of a state.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let ids = args.bulk.ids(args.id.as_ref(), Selection::Inbox, "retry", cx).await?;
    let body = request::Retry { agent: args.agent, after_partial: args.after_partial };
    each(&ids, routes::inbox_retry, &body, cx).await
}
