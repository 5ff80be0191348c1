//! `loom integration-branch export`.

use std::path::Path;

use loom_branch::{Files, write_files};
use loom_domain::integration::{Resolutions, merge};
use loom_domain::{Code, Error, Result};
use loom_secrets::private_file::{ensure_private_dir, write_private};
use serde_json::json;

use super::apply::conflict;
use super::desk::{Desk, hub_tree};
use crate::context::Context;
use crate::failure::Outcome;

/// Folder of the private working tree, below the home.
const WORK_TREE: &str = "worktrees/integration";

/// Bring what the hub has changed to the branch
///
/// What the branch has changed itself stays; a field that both have changed differently stops the export. Without
/// --commit the files are written to a private working tree only, and nothing of the repository changes.
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom integration-branch export",
    "loom integration-branch export --commit --message \"New channel\""
))]
pub(super) struct Args {
    /// Make one commit on the branch
    #[arg(long)]
    commit: bool,
    /// Its message
    #[arg(long, value_name = "M", default_value = "Configuration of the hub", requires = "commit")]
    message: String,
}

/// Exports it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let mut desk = Desk::open(cx)?;
    let _lock = desk.repo.lock().await?;
    let hub = hub_tree(cx).await?;
    let tip = desk.commit(None).await?;
    let (base, present) = (desk.base()?, desk.repo.files(&tip).await?);
    let branch = loom_branch::read_files(&present, &desk.redactor)?.settled(&base, &hub);
    let (merged, conflicts) = merge(&base, &hub, &branch, &Resolutions::new());
    if !conflicts.is_empty() {
        return Err(conflict(&conflicts).into());
    }
    let files = write_files(&merged, &desk.redactor)?;
    let changed: Vec<&String> =
        files.iter().filter(|(path, text)| present.get(*path) != Some(text)).map(|(path, _)| path).collect();
    let removed: Vec<&String> = present.keys().filter(|path| !files.contains_key(*path)).collect();
    let mut commit = None;
    if args.commit && !cx.globals.dry_run {
        not_checked_out(&desk).await?;
        commit = desk
            .repo
            .commit(&desk.binding.branch, Some(&tip), &files, &format!("{}\n", args.message))
            .await?;
        let revision = commit.clone().unwrap_or(tip);
        desk.remember(&hub, &merged, &revision)?;
    } else if !cx.globals.dry_run {
        write(&cx.env.home().join(WORK_TREE), &files)?;
    }
    if !cx.out.is_human() {
        return cx.out.json(&json!({
            "schema_version": "loom.integration_export/v1", "commit": commit, "changed": changed, "removed": removed,
            "digest": hub.digest(), "work_tree": (!args.commit).then_some(WORK_TREE), "dry_run": cx.globals.dry_run,
        }));
    }
    for (mark, paths) in [("~", &changed), ("-", &removed)] {
        paths.iter().try_for_each(|path| cx.out.line(&format!("{mark} {}/{path}", desk.binding.dir)))?;
    }
    match (&commit, changed.is_empty() && removed.is_empty()) {
        (Some(commit), _) => cx.out.line(&format!("commit {commit}")),
        (None, true) => cx.out.line("nothing differs"),
        (None, false) => Ok(()),
    }
}

/// A branch that somebody works on is not moved under them.
pub(super) async fn not_checked_out(desk: &Desk) -> Result<()> {
    let branch = &desk.binding.branch;
    if desk.repo.is_checked_out(branch).await? {
        return Err(Error::new(Code::GitFailed, format!("{branch} is checked out in a working tree"))
            .with_hint("Check out another branch there, and try again."));
    }
    Ok(())
}

/// Puts the files in the place of those that an earlier export left.
fn write(folder: &Path, files: &Files) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => return Err(Error::internal(cause)),
        _ => {}
    }
    for (path, text) in files {
        let path = folder.join(path);
        for parent in path.ancestors().skip(1).take(3).collect::<Vec<_>>().into_iter().rev() {
            ensure_private_dir(parent)?;
        }
        write_private(&path, text.as_bytes())?;
    }
    Ok(())
}
