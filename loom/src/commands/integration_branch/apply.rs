//! `loom integration-branch apply`.

use std::path::PathBuf;

use loom_api::{request, routes};
use loom_capabilities::read_document;
use loom_domain::integration::{Conflict, Plan, Resolutions, merge};
use loom_domain::{Code, Error, Result};
use serde_json::Value;

use super::desk::{Desk, hub_tree};
use super::plan;
use crate::context::Context;
use crate::failure::Outcome;
use crate::input::document::read_text;
use crate::output::pick;

/// Largest file of resolutions.
const RESOLVE_BYTES_MAX: usize = 256 * 1024;

/// Bring the branch to the hub, all or nothing
///
/// A field that only one side has changed is taken from it. What widens access needs --approve with the digest of
/// the plan that --dry-run prints; an object whose file is gone is archived only with --allow-archive.
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom integration-branch apply --dry-run",
    "loom integration-branch apply --approve sha256:4f0c... --allow-archive"
))]
pub(super) struct Args {
    /// A revision instead of the branch's newest
    #[arg(long, value_name = "REV")]
    rev: Option<String>,
    /// Digest of the plan that you approve
    #[arg(long, value_name = "DIGEST")]
    approve: Option<String>,
    /// Archive objects whose files are gone
    #[arg(long)]
    allow_archive: bool,
    /// Which side wins where both changed a field: OBJECT: {FIELD: hub|branch}
    #[arg(long, value_name = "FILE")]
    resolve: Option<PathBuf>,
}

/// Applies it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let mut desk = Desk::open(cx)?;
    let resolve = args.resolve.as_deref().map(resolutions).transpose()?.unwrap_or_default();
    let commit = desk.commit(args.rev.as_deref()).await?;
    let (hub, base, files) = (hub_tree(cx).await?, desk.base()?, desk.tree(&commit).await?);
    let branch = files.settled(&base, &hub);
    let (merged, conflicts) = merge(&base, &hub, &branch, &resolve);
    if !conflicts.is_empty() {
        return Err(conflict(&conflicts).into());
    }
    let plan = Plan::between(&hub, &merged);
    if cx.globals.dry_run {
        return show(&plan, &commit, cx);
    }
    let _lock = desk.repo.lock().await?;
    permitted(&plan, args.approve.as_deref(), args.allow_archive)?;
    if plan.changes.is_empty() {
        desk.remember(&hub, &files, &commit)?;
        return show(&plan, &commit, cx);
    }
    let wanted = request::ApplyIntegration { plan: plan.clone(), revision: commit.clone(), reverts: None };
    let applied: Value = cx.hub()?.post(routes::integration_applies()).json(&wanted)?.run().await?;
    desk.remember(&hub_tree(cx).await?, &files, &commit)?;
    told(&plan, &applied, cx)
}

/// Prints a plan and its digest.
pub(super) fn show(plan: &Plan, commit: &str, cx: &mut Context<'_, '_>) -> Outcome {
    if !cx.out.is_human() {
        return cx.out.json(&plan::document(plan, commit));
    }
    plan::print(plan, cx)?;
    cx.out.line(&format!("plan {}", plan.plan_digest))
}

/// Prints what was done.
pub(super) fn told(plan: &Plan, applied: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    if !cx.out.is_human() {
        let mut applied = applied.clone();
        if let Some(members) = applied.as_object_mut() {
            members.remove("before");
        }
        return cx.out.json(&applied);
    }
    plan::print(plan, cx)?;
    cx.out.line(&format!(
        "applied {} at {}",
        pick::text(applied, "apply_id"),
        pick::text(applied, "revision")
    ))
}

/// Whether the plan may run as it is.
pub(super) fn permitted(plan: &Plan, approve: Option<&str>, allow_archive: bool) -> Result<()> {
    if approve.is_some_and(|digest| digest != plan.plan_digest) {
        return Err(Error::new(Code::PlanChanged, "the plan is not the one that was approved")
            .with_detail("plan_digest", plan.plan_digest.clone()));
    }
    if plan.is_sensitive() && approve.is_none() {
        let why: Vec<String> = plan
            .changes
            .iter()
            .flat_map(|change| change.sensitive.iter().map(move |why| format!("{} {why}", change.object())))
            .collect();
        return Err(Error::new(
            Code::ConfirmationRequired,
            "the plan widens what may happen and needs approval",
        )
        .with_hint(format!("repeat with --approve {}", plan.plan_digest))
        .with_detail("plan_digest", plan.plan_digest.clone())
        .with_detail("sensitive", why));
    }
    if plan.archives() && !allow_archive {
        return Err(Error::new(Code::ConfirmationRequired, "the plan archives objects")
            .with_hint("repeat with --allow-archive")
            .with_detail("plan_digest", plan.plan_digest.clone()));
    }
    Ok(())
}

/// The error that tells of each conflict.
pub(super) fn conflict(conflicts: &[Conflict]) -> Error {
    let fields: Vec<String> = conflicts.iter().map(|one| format!("{} {}", one.object, one.field)).collect();
    let rows = serde_json::to_value(conflicts).unwrap_or_default();
    Error::new(Code::VersionConflict, format!("hub and branch changed the same: {}", fields.join(", ")))
        .with_hint("say which side wins in a file, and give it with --resolve")
        .with_detail("conflicts", rows)
}

fn resolutions(path: &std::path::Path) -> Result<Resolutions> {
    let wrong = |why: &str| Error::new(Code::InvalidInput, format!("--resolve: {why}"));
    let text =
        read_text(&path.to_string_lossy(), RESOLVE_BYTES_MAX).map_err(|error| wrong(&error.message))?;
    serde_json::from_value(read_document(&text)?).map_err(|_| wrong("expected OBJECT: {FIELD: hub|branch}"))
}
