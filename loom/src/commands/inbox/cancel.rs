//! `loom inbox cancel`.

use loom_api::{request, routes};

use super::{Bulk, Selection};
use crate::cli::parsers;
use crate::commands::common::each;
use crate::context::Context;
use crate::failure::Outcome;

/// Close an item without a reply, as the owner
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom inbox cancel inb_01arz3ndektsv4rrffq69g5fav --block",
    "loom inbox cancel --all --state needs_decision --yes"
))]
pub(crate) struct Args {
    /// Item id
    #[arg(value_parser = parsers::inbox)]
    id: Option<String>,
    /// A short remark
    #[arg(long, value_name = "T")]
    reason: Option<String>,
    /// Refuse the sender from now on
    #[arg(long)]
    block: bool,
    #[command(flatten)]
    bulk: Bulk,
}

/// Cancels it, or all of a state.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let ids = args.bulk.ids(args.id.as_ref(), Selection::Inbox, "cancel", cx).await?;
    let body = request::Cancel { reason: args.reason, block: args.block };
    each(&ids, routes::inbox_cancel, &body, cx).await
}
