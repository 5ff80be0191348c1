//! `loom integration-branch init`.

use std::path::{Path, PathBuf};

use loom_branch::{Binding, write_files};
use loom_domain::integration::Tree;
use loom_domain::{Code, Error, Result};
use loom_secrets::CredentialRef;
use serde_json::json;

use super::desk::{Desk, hub_tree};
use crate::context::Context;
use crate::failure::Outcome;

const FIRST: &str = "The configuration of Loom\n";

/// Bind a repository and its branch
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom integration-branch init",
    "loom integration-branch init --repo ../config --dir settings"
))]
pub(super) struct Args {
    /// The repository
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    /// The directory in it
    #[arg(long, value_name = "DIR", default_value = "loom")]
    dir: String,
    /// The branch
    #[arg(long, value_name = "BRANCH", default_value = "loom/integration")]
    branch: String,
    /// The remote that proposals go to
    #[arg(long, value_name = "REMOTE")]
    remote: Option<String>,
    /// Deploy key for the remote (field `ssh_key`), such as vault:NAME
    #[arg(long, value_name = "REF", value_parser = CredentialRef::parse)]
    credential_ref: Option<CredentialRef>,
}

/// Binds it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let mut desk = Desk::of(binding(args, cx)?, cx);
    desk.repo.check().await?;
    let hub = hub_tree(cx).await?;
    let files = write_files(&hub, &desk.redactor)?;
    let lock = desk.repo.lock().await?;
    let tip = desk.tip().await?;
    let created = tip.is_none();
    if !cx.globals.dry_run {
        let (branch, tip) = match tip {
            // What is there stays as it is; what both sides have already is agreed on.
            Some(tip) => (desk.tree(&tip).await?, tip),
            None => {
                let head = desk.repo.commit_of("HEAD").await?;
                let made = desk.repo.commit(&desk.binding.branch, head.as_deref(), &files, FIRST).await?;
                (hub.clone(), made.ok_or_else(|| Error::internal("a new branch without a commit"))?)
            }
        };
        desk.remember(&hub, &branch, &tip)?;
    }
    drop(lock);
    told(&desk, &hub, created, cx)
}

fn told(desk: &Desk, hub: &Tree, created: bool, cx: &mut Context<'_, '_>) -> Outcome {
    let (branch, objects) = (&desk.binding.branch, hub.objects.len());
    if !cx.out.is_human() {
        return cx.out.json(&json!({
            "schema_version": "loom.integration_branch/v1", "branch": branch, "dir": desk.binding.dir,
            "created": created, "revision": desk.binding.revision, "objects": objects, "dry_run": cx.globals.dry_run,
        }));
    }
    let how = if created { "made" } else { "is there" };
    cx.out.line(&format!("the branch {branch} {how}; {objects} objects in {}/", desk.binding.dir))
}

fn binding(args: Args, cx: &Context<'_, '_>) -> Result<Binding> {
    let place = |path: &Path| {
        path.canonicalize().map_err(|_| Error::new(Code::InvalidArgument, "--repo: there is no such folder"))
    };
    let repo = place(&args.repo)?;
    let known = Binding::load(&cx.env.home())?;
    let same =
        known.filter(|known| known.repo == repo && known.dir == args.dir && known.branch == args.branch);
    let fresh = Binding {
        repo,
        dir: args.dir,
        branch: args.branch,
        remote: None,
        credential_ref: None,
        revision: None,
        base: Vec::new(),
    };
    let mut binding = same.unwrap_or(fresh);
    binding.remote = args.remote.or(binding.remote);
    binding.credential_ref = args.credential_ref.map(|one| one.to_string()).or(binding.credential_ref);
    binding.check()?;
    Ok(binding)
}
