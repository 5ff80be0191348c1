//! `loom turn cancel`.

use loom_domain::TurnId;

use super::print;
use crate::context::Context;
use crate::failure::Outcome;

/// Stop a Turn, wherever it runs
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom turn cancel trn_01k9example0000000000000000",
    "loom turn cancel trn_01k9example0000000000000000 --json"
))]
pub(super) struct Args {
    /// Turn
    #[arg(value_name = "TRN")]
    id: String,
}

/// Asks whoever works on it to stop; it can be resumed.
pub(super) fn run(args: &Args, cx: &mut Context<'_, '_>) -> Outcome {
    let (id, room): (TurnId, _) = (args.id.parse()?, super::room(cx));
    let view = if cx.globals.dry_run { room.view(&id)? } else { room.stop(&id)? };
    print::view(&view, cx)
}
