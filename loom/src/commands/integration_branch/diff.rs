//! `loom integration-branch diff`.

use loom_domain::Result;
use loom_domain::integration::{Plan, Tree};

use super::desk::{Desk, hub_tree};
use super::plan;
use crate::context::Context;
use crate::failure::Outcome;

const HUB: &str = "hub";
const BRANCH: &str = "branch";

/// Compare hub, branch and revisions
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom integration-branch diff",
    "loom integration-branch diff --from HEAD~1 --to branch"
))]
pub(super) struct Args {
    /// hub, branch, or a revision
    #[arg(long, value_name = "SIDE", default_value = HUB)]
    from: String,
    /// hub, branch, or a revision
    #[arg(long, value_name = "SIDE", default_value = BRANCH)]
    to: String,
}

/// Shows it; nothing of the repository changes.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let desk = Desk::open(cx)?;
    let hub = if args.from == HUB || args.to == HUB { hub_tree(cx).await? } else { Tree::default() };
    let (from, to) = (side(&args.from, &hub, &desk).await?, side(&args.to, &hub, &desk).await?);
    let plan = Plan::between(&from, &to);
    if !cx.out.is_human() {
        return cx.out.json(&plan::document(&plan, &args.to));
    }
    plan::print(&plan, cx)
}

async fn side(name: &str, hub: &Tree, desk: &Desk) -> Result<Tree> {
    match name {
        HUB => Ok(hub.clone()),
        BRANCH => Ok(desk.tree(&desk.commit(None).await?).await?.settled(&desk.base()?, hub)),
        revision => Ok(desk.tree(&desk.commit(Some(revision)).await?).await?.settled(&desk.base()?, hub)),
    }
}
