//! `loom turn resume`.

use loom_domain::TurnId;

use super::running::{Work, here};
use super::{print, remote};
use crate::compose::world;
use crate::context::Context;
use crate::failure::Outcome;

/// Go on with a Turn that was stopped
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom turn resume trn_01arz3ndektsv4rrffq69g5fav",
    "loom turn resume trn_01arz3ndektsv4rrffq69g5fav --json"
))]
pub(super) struct Args {
    /// Turn
    #[arg(value_name = "TRN")]
    id: String,
}

/// Goes on with it; one that is over is shown.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let (id, room): (TurnId, _) = (args.id.parse()?, super::room(cx));
    if remote::is_named(cx) {
        return Box::pin(remote::resume(&id, cx)).await;
    }
    let view = room.view(&id)?;
    if cx.globals.dry_run {
        return print::view(&view, cx);
    }
    if view.agent.is_some() && !view.state.is_final() {
        return Box::pin(remote::resume(&id, cx)).await;
    }
    let catalog = world::catalog(cx.env)?;
    let world = world::online(cx.env)?;
    let ran = Box::pin(here(world, &catalog, &room, Work::Resume(id), cx)).await?;
    print::ran(&ran, cx)
}
