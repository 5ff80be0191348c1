//! `loom outbox cancel`.

use loom_api::{request, routes};

use crate::cli::parsers;
use crate::commands::common::each;
use crate::commands::inbox::{Bulk, Selection};
use crate::context::Context;
use crate::failure::Outcome;

/// Cancel what is not delivered yet
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom outbox cancel out_01arz3ndektsv4rrffq69g5fav --reason outdated",
    "loom outbox cancel --all --state held --yes"
))]
pub(crate) struct Args {
    /// Item id
    #[arg(value_parser = parsers::outbox)]
    id: Option<String>,
    /// A short remark
    #[arg(long, value_name = "T")]
    reason: Option<String>,
    #[command(flatten)]
    bulk: Bulk,
}

/// Cancels it, or all of a state.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let ids = args.bulk.ids(args.id.as_ref(), Selection::Outbox, "cancel", cx).await?;
    let body = request::Cancel { reason: args.reason, block: false };
    each(&ids, routes::outbox_cancel, &body, cx).await
}
