//! `loom outbox retry`.

use loom_api::{request, routes};

use crate::cli::parsers;
use crate::commands::common::each;
use crate::commands::inbox::{Bulk, Selection};
use crate::context::Context;
use crate::failure::Outcome;

/// Send what failed or expired again
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom outbox retry out_01arz3ndektsv4rrffq69g5fav",
    "loom outbox retry --all --state failed --yes"
))]
pub(crate) struct Args {
    /// Item id
    #[arg(value_parser = parsers::outbox)]
    id: Option<String>,
    #[command(flatten)]
    bulk: Bulk,
}

/// Retries it, or all of a state.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let ids = args.bulk.ids(args.id.as_ref(), Selection::Outbox, "retry", cx).await?;
    each(&ids, routes::outbox_retry, &request::Retry::default(), cx).await
}
