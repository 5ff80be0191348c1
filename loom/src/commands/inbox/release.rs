//! `loom inbox release`.

use loom_api::routes;
use serde_json::Value;

use crate::cli::parsers;
use crate::context::Context;
use crate::failure::Outcome;

/// Let one quarantined file through, as the owner
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom inbox release inb_01arz3ndektsv4rrffq69g5fav \\\n      --attachment art_01arz3ndektsv4rrffq69g5fav",
    "loom inbox release inb_01arz3ndektsv4rrffq69g5fav \\\n      --attachment art_01arz3ndektsv4rrffq69g5fav --dry-run"
))]
pub(crate) struct Args {
    /// Item id
    #[arg(value_parser = parsers::inbox)]
    id: String,
    /// File of the item
    #[arg(long, value_name = "ART", value_parser = parsers::artifact)]
    attachment: String,
}

/// Releases it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let hub = cx.hub()?;
    let call = hub.post(routes::inbox_release(&args.id, &args.attachment)).dry_run(cx.globals.dry_run);
    let done: Value = call.run().await?;
    cx.out.mutation(&done)
}
