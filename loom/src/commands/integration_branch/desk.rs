//! What every command of the branch works with: the binding, the repository, and both configurations.

use std::path::PathBuf;

use loom_api::routes;
use loom_branch::{Binding, Git, Repo, read_files};
use loom_domain::integration::{Object, Tree, agreed};
use loom_domain::{Code, Error, Result};
use loom_secrets::{CredentialRef, Kind, Redactor};
use serde_json::Value;
use tempfile::NamedTempFile;

use super::key;
use crate::context::Context;
use crate::credentials;

/// Binding and repository of this home.
pub(super) struct Desk {
    pub(super) home: PathBuf,
    pub(super) binding: Binding,
    pub(super) repo: Repo,
    pub(super) redactor: Redactor,
}

impl Desk {
    /// Opens what `init` has bound.
    pub(super) fn open(cx: &Context<'_, '_>) -> Result<Desk> {
        let binding = Binding::load(&cx.env.home())?.ok_or_else(|| {
            Error::new(Code::NotReady, "no repository is bound to this home")
                .with_hint("loom integration-branch init --repo DIR")
        })?;
        Ok(Desk::of(binding, cx))
    }

    /// A desk over a binding.
    pub(super) fn of(binding: Binding, cx: &Context<'_, '_>) -> Desk {
        let git = Git::new(&binding.repo, cx.env.variables.clone());
        let repo = Repo::new(git, &binding.dir);
        Desk { home: cx.env.home(), binding, repo, redactor: Redactor::new() }
    }

    /// Sends a branch to the remote.
    pub(super) async fn push(&self, remote: &str, branch: &str, cx: &Context<'_, '_>) -> Result<()> {
        match self.key(cx).await? {
            Some(key) => self.repo.with_key(key.path()).push(remote, branch).await,
            None => self.repo.push(remote, branch).await,
        }
    }

    /// Gets what the remote has of the branch.
    pub(super) async fn fetch(&self, remote: &str, cx: &Context<'_, '_>) -> Result<()> {
        match self.key(cx).await? {
            Some(key) => self.repo.with_key(key.path()).fetch(remote, &self.binding.branch).await,
            None => self.repo.fetch(remote, &self.binding.branch).await,
        }
    }

    /// The deploy key in a private file, for as long as one command of git needs it.
    async fn key(&self, cx: &Context<'_, '_>) -> Result<Option<NamedTempFile>> {
        let Some(reference) = &self.binding.credential_ref else { return Ok(None) };
        let resolver = credentials::resolver(&self.home, &cx.env.variables, self.redactor.clone())?;
        let reference = CredentialRef::parse(reference)?;
        let kind = Kind::DeployKey;
        let secret = resolver.resolve_field(&reference, kind, kind.main_field()).await?;
        key::lend(&self.home, secret.expose(), cx.env.now).map(Some)
    }

    /// The tip of the branch; none when the branch is gone.
    pub(super) async fn tip(&self) -> Result<Option<String>> {
        self.repo.branch(&self.binding.branch).await
    }

    /// A revision that must be there.
    pub(super) async fn commit(&self, revision: Option<&str>) -> Result<String> {
        let name = revision.unwrap_or(&self.binding.branch);
        let found = match revision {
            Some(revision) => self.repo.commit_of(revision).await?,
            None => self.tip().await?,
        };
        found.ok_or_else(|| Error::new(Code::GitFailed, format!("the repository has no {name}")))
    }

    /// The configuration of a commit, as it stands in its files.
    pub(super) async fn tree(&self, commit: &str) -> Result<Tree> {
        read_files(&self.repo.files(commit).await?, &self.redactor)
    }

    /// What both sides agreed on.
    pub(super) fn base(&self) -> Result<Tree> {
        Tree::from_objects(self.binding.base.clone())
    }

    /// Remembers what both sides agree on now.
    pub(super) fn remember(&mut self, hub: &Tree, branch: &Tree, revision: &str) -> Result<()> {
        let base = self.base()?;
        let branch = branch.settled(&base, hub);
        self.binding.base = agreed(&base, hub, &branch).to_objects();
        self.binding.revision = Some(revision.to_owned());
        self.binding.save(&self.home)
    }
}

/// The configuration of the hub.
pub(super) async fn hub_tree(cx: &Context<'_, '_>) -> Result<Tree> {
    let found: Value = cx.hub()?.get(routes::integration()).run().await?;
    tree_of(found.get("objects"))
}

/// Reads objects of an answer.
pub(super) fn tree_of(objects: Option<&Value>) -> Result<Tree> {
    let objects = objects.cloned().unwrap_or_default();
    let objects: Vec<Object> = serde_json::from_value(objects).map_err(Error::internal)?;
    Tree::from_objects(objects)
}
