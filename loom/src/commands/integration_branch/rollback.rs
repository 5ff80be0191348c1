//! `loom integration-branch rollback`.

use loom_api::{request, routes};
use loom_domain::integration::Plan;
use loom_domain::{Code, Error};
use serde_json::Value;

use super::apply::{permitted, show, told};
use super::desk::{Desk, hub_tree, tree_of};
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Restore what was before an apply
///
/// What widens access needs --approve with the digest of the plan that --dry-run prints; what was made since is
/// archived only with --allow-archive.
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom integration-branch rollback",
    "loom integration-branch rollback --to op_01arz3ndektsv4rrffq69g5fav --dry-run"
))]
pub(super) struct Args {
    /// The apply that is taken back; by default the newest that was not taken back yet
    #[arg(long, value_name = "APPLY_ID")]
    to: Option<String>,
    /// Digest of the plan that you approve
    #[arg(long, value_name = "DIGEST")]
    approve: Option<String>,
    /// Archive objects that were made since
    #[arg(long)]
    allow_archive: bool,
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
        return show(&plan, &revision, cx);
    }
    let _lock = desk.repo.lock().await?;
    permitted(&plan, args.approve.as_deref(), args.allow_archive)?;
    let wanted = request::ApplyIntegration { plan: plan.clone(), revision, reverts: Some(id) };
    let applied: Value = cx.hub()?.post(routes::integration_applies()).json(&wanted)?.run().await?;
    told(&plan, &applied, cx)
}

async fn newest(cx: &Context<'_, '_>) -> Result<String, Error> {
    let applies: Value = cx.hub()?.get(routes::integration_applies()).run().await?;
    let applies = pick::list(&applies, "items");
    let taken_back: Vec<String> = applies.iter().map(|apply| pick::text(apply, "reverts")).collect();
    let ids = applies.iter().filter(|apply| pick::text(apply, "reverts").is_empty());
    let newest = ids.map(|apply| pick::text(apply, "apply_id")).find(|id| !taken_back.contains(id));
    newest.ok_or_else(|| {
        Error::new(Code::NotFound, "no apply is left to take back").with_hint("loom integration-branch apply")
    })
}
