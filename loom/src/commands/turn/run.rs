//! `loom turn run`.

use super::order::{OrderFlags, planned};
use super::running::{Work, here};
use super::{plan, print, remote};
use crate::compose::world;
use crate::context::Context;
use crate::failure::Outcome;

/// Run connectors in order, then an Agent
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Run connectors in order, then an Agent\n\nIts journal has each step on disk before it begins. A Turn that was \
                  stopped goes on with `loom turn resume`; what was read is not read again. With --turn-key the \
                  same key is the same Turn: it is shown, not run a second time."
)]
#[command(after_help = examples!(
    "loom turn run --connector github_public_probe",
    "loom turn run --connector finance_probe=@probe.yaml \\\n    --agent docs --prompt-file ask.md --turn-key daily-1"
))]
pub(super) struct Args {
    #[command(flatten)]
    order: OrderFlags,
}

/// Runs it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let order = args.order.order(cx)?;
    let catalog = world::catalog(cx.env)?;
    if cx.globals.dry_run {
        let plan = planned(&world::offline(cx.env)?, &catalog, &order, cx).await?;
        return plan::print(&plan, cx);
    }
    if order.agent.is_some() || remote::is_named(cx) {
        return Box::pin(remote::begin(&order, cx)).await;
    }
    let (world, room) = (world::online(cx.env)?, super::room(cx));
    let ran = Box::pin(here(world, &catalog, &room, Work::Begin(Box::new(order)), cx)).await?;
    print::ran(&ran, cx)
}
