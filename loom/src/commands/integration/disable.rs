//! `loom integration disable`.

use super::switch::switch;
use crate::cli::parsers;
use crate::commands::common::Version;
use crate::context::Context;
use crate::failure::Outcome;

/// Switch a Connection or an Address off
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom integration disable adr_01arz3ndektsv4rrffq69g5fav",
    "loom integration disable con_01arz3ndektsv4rrffq69g5fav --dry-run"
))]
pub(crate) struct Args {
    /// Connection or Address id
    #[arg(value_parser = parsers::switchable)]
    id: String,
    #[command(flatten)]
    version: Version,
}

/// Switches it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    switch(&args.id, false, args.version.expected_version, cx).await
}
