//! `loom integration-branch propose`.

use loom_branch::write_files;
use loom_domain::{Code, Error, OperationId};
use serde_json::json;

use super::desk::{Desk, hub_tree};
use crate::compose::entropy;
use crate::context::Context;
use crate::failure::Outcome;

/// Commit the hub's state for review
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom integration-branch propose --message \"New channel\"",
    "loom integration-branch propose --message \"New channel\" --push"
))]
pub(super) struct Args {
    /// Message of the commit
    #[arg(long, value_name = "M")]
    message: String,
    /// Send the branch to the remote; never by force
    #[arg(long)]
    push: bool,
}

/// Proposes it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let desk = Desk::open(cx)?;
    let remote = desk.binding.remote.clone();
    if args.push && remote.is_none() {
        return Err(Error::new(Code::NotReady, "no remote is bound")
            .with_hint("loom integration-branch init --remote NAME")
            .into());
    }
    let _lock = desk.repo.lock().await?;
    let files = write_files(&hub_tree(cx).await?, &desk.redactor)?;
    let tip = desk.commit(None).await?;
    if desk.repo.files(&tip).await? == files {
        return nothing(cx);
    }
    let id = OperationId::new(cx.env.now.0, entropy()()).to_string();
    let branch = format!("loom/propose/{}", id.trim_start_matches(OperationId::PREFIX));
    let mut commit = None;
    if !cx.globals.dry_run {
        commit = desk.repo.commit(&branch, Some(&tip), &files, &format!("{}\n", args.message)).await?;
        if let (true, Some(remote)) = (args.push, &remote)
            && let Err(error) = desk.push(remote, &branch, cx).await
        {
            // A proposal that nobody can see is none.
            desk.repo.take_back(&branch, commit.as_deref().unwrap_or_default()).await?;
            return Err(error.into());
        }
    }
    if !cx.out.is_human() {
        return cx.out.json(&json!({
            "schema_version": "loom.integration_proposal/v1", "branch": branch, "commit": commit,
            "pushed": args.push && !cx.globals.dry_run, "dry_run": cx.globals.dry_run,
        }));
    }
    cx.out.line(&format!("{branch} {}", commit.unwrap_or_default()))
}

fn nothing(cx: &mut Context<'_, '_>) -> Outcome {
    if cx.out.is_human() {
        return cx.out.line("nothing differs");
    }
    cx.out.json(&json!({
        "schema_version": "loom.integration_proposal/v1", "branch": null, "commit": null, "pushed": false,
        "dry_run": cx.globals.dry_run,
    }))
}
