//! Everything a twin knows.

use std::collections::BTreeMap;

use super::actor::{Actor, ActorKind, Association};
use super::builder::{Builder, Knobs};
use super::quota::Quotas;
use super::repo::Repo;

/// The state of one twin.
#[derive(Debug)]
pub(super) struct World {
    pub(super) repos: Vec<Repo>,
    /// Login of each token.
    pub(super) tokens: BTreeMap<String, String>,
    pub(super) html_base: String,
    pub(super) knobs: Knobs,
    pub(super) quotas: Quotas,
}

impl World {
    pub(super) fn new(builder: Builder) -> Self {
        let Builder { seed, repos, tokens, html_base, knobs, port: _ } = builder;
        let repos = repos.into_iter().map(|plan| Repo::new(seed, plan)).collect();
        Self { repos, tokens: tokens.into_iter().collect(), html_base, knobs, quotas: Quotas::default() }
    }

    /// A repository; names are the same in any letter case.
    pub(super) fn repo(&self, full_name: &str) -> Option<&Repo> {
        self.repos.iter().find(|repo| repo.full_name.eq_ignore_ascii_case(full_name))
    }

    pub(super) fn repo_mut(&mut self, full_name: &str) -> Option<&mut Repo> {
        self.repos.iter_mut().find(|repo| repo.full_name.eq_ignore_ascii_case(full_name))
    }

    pub(super) fn repo_of_id(&self, id: u64) -> Option<&Repo> {
        self.repos.iter().find(|repo| repo.id == id)
    }
}

/// The account of a token.
pub(super) fn account(login: &str) -> Actor {
    Actor::new(login, ActorKind::User, Association::None)
}
