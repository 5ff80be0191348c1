//! `loom integration-branch rollback`.

use loom_api::{request, routes};
use loom_domain::integration::Plan;
use loom_domain::{Code, Error};
use serde_json::Value;

use super::apply::told;
use super::desk::{Desk, hub_tree, tree_of};
use super::plan;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Restore what was before an apply
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom integration-branch rollback",
    "loom integration-branch rollback --to op_01arz3ndektsv4rrffq69g5fav --dry-run"
))]
pub(super) struct Args {
    /// The apply that is taken back; the newest by default
    #[arg(long, value_name = "APPLY_ID")]
    to: Option<String>,
}

/// Restores it. Messages, receipts and the audit chain stay as they are.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let desk = Desk::open(cx)?;
    let id = match args.to {
        Some(id) => id,
        None => newest(cx).await?,
    };
    let found: Value = cx.hub()?.get(routes::integration_apply(&id)).run().await?;
    let before = tree_of(found.get("before"))?;
    let plan = Plan::between(&hub_tree(cx).await?, &before);
    let revision = pick::text(&found, "revision");
    if cx.globals.dry_run || plan.changes.is_empty() {
        if !cx.out.is_human() {
            return cx.out.json(&plan::document(&plan, &revision));
        }
        return plan::print(&plan, cx);
    }
    let _lock = desk.repo.lock().await?;
    let wanted = request::ApplyIntegration { plan: plan.clone(), revision, reverts: Some(id) };
    let applied: Value = cx.hub()?.post(routes::integration_applies()).json(&wanted)?.run().await?;
    told(&plan, &applied, cx)
}

async fn newest(cx: &Context<'_, '_>) -> Result<String, Error> {
    let applies: Value = cx.hub()?.get(routes::integration_applies()).run().await?;
    let first = pick::list(&applies, "items").first();
    first.map(|apply| pick::text(apply, "apply_id")).ok_or_else(|| {
        Error::new(Code::NotFound, "nothing was applied yet").with_hint("loom integration-branch apply")
    })
}
