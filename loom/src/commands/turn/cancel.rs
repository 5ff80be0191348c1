//! `loom turn cancel`.

use loom_api::routes;
use loom_domain::TurnId;
use serde_json::Value;

use super::{print, remote};
use crate::context::Context;
use crate::failure::Outcome;

/// Stop a Turn, wherever it runs
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom turn cancel trn_01arz3ndektsv4rrffq69g5fav",
    "loom turn cancel trn_01arz3ndektsv4rrffq69g5fav --json"
))]
pub(super) struct Args {
    /// Turn
    #[arg(value_name = "TRN")]
    id: String,
}

/// Asks whoever works on it to stop; it can be resumed.
pub(super) async fn run(args: &Args, cx: &mut Context<'_, '_>) -> Outcome {
    let (id, room): (TurnId, _) = (args.id.parse()?, super::room(cx));
    if remote::is_named(cx) {
        let view: Value = cx.hub()?.delete(routes::turn(id.as_str())).run().await?;
        return print::shown(&view, cx);
    }
    let view = if cx.globals.dry_run { room.view(&id)? } else { room.stop(&id)? };
    print::view(&view, cx)
}
