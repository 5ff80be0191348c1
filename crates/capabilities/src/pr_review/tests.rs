//! The capability against the GitHub twin.

mod details;
mod filters;
mod limits;
mod queue;
mod scanning;

use std::sync::{Arc, OnceLock};

use loom_secrets::Resolver;
use loom_transport::{CacheMode, Transport};
use loom_twins::github::{Builder, GithubTwin, Repo};
use serde_json::{Value, json};

use super::*;
use crate::{Flow, NoObserver, Observer, Payload, RunSettings, StopReason, World};

const REPO: &str = "acme/tool";
const TOKEN: &str = "ghp_twin_0000000000000000000000000000";

/// A twin and a world that reaches it through one transport.
struct Scene {
    twin: GithubTwin,
    world: World,
    base: String,
}

fn builder(open: u64, closed: u64) -> Builder {
    let repo = Repo::new(REPO).open_pulls(open).closed_pulls(closed);
    GithubTwin::builder().seed(7).repo(repo).token(TOKEN, "ana").quota(1_000_000)
}

fn world(token: Option<&'static str>) -> World {
    let shared: Arc<OnceLock<Transport>> = Arc::default();
    let mut world = World::new(Arc::new(move |meter, origins| {
        if shared.get().is_none() {
            let made = Transport::builder().log(meter.log());
            let made = origins.iter().fold(made, |made, origin| made.local_origin(origin)).build()?;
            let _ = shared.set(made);
        }
        Ok(shared.get().unwrap().clone())
    }));
    world.key = Arc::new(|| Ok([7; 32]));
    let find = move |name: &str| token.filter(|_| name == "GH_ENTERPRISE_TOKEN").map(str::to_owned);
    let resolver = Resolver::new(world.redactor.clone(), Arc::new(find));
    world.with_credentials(resolver, find)
}

async fn scene(builder: Builder) -> Scene {
    let twin = builder.start().await.unwrap();
    let base = twin.base_url();
    Scene { twin, world: world(Some(TOKEN)), base }
}

impl Scene {
    /// The same twin for somebody without a token.
    fn anonymous(self) -> Scene {
        Scene { world: world(None), ..self }
    }

    /// The same twin for a process that starts.
    fn restarted(self) -> Scene {
        Scene { world: world(Some(TOKEN)), ..self }
    }

    async fn run(&self, operation: &str, input: Value) -> Payload {
        self.watched(operation, input, None, &mut NoObserver).await
    }

    async fn scan(&self, more: Value) -> Payload {
        self.run("scan", input(&more)).await
    }

    async fn resumed(&self, more: Value, cursor: &str) -> Payload {
        self.watched("scan", input(&more), Some(cursor), &mut NoObserver).await
    }

    async fn watched_pages(&self, more: Value, pages: u32) -> Payload {
        let settings = RunSettings { api_url: Some(self.base.clone()), ..RunSettings::default() };
        let limits = crate::RunLimits { max_pages: Some(pages), ..crate::RunLimits::default() };
        let (operation, input) = ("scan".to_owned(), input(&more));
        let request = RunRequest { operation, input, limits, settings, ..RunRequest::default() };
        crate::run(&self.world, &PrReview::new(), request, None, &mut NoObserver).await.unwrap()
    }

    async fn watched(
        &self,
        operation: &str,
        input: Value,
        cursor: Option<&str>,
        observer: &mut dyn Observer,
    ) -> Payload {
        let settings = RunSettings { api_url: Some(self.base.clone()), ..RunSettings::default() };
        let request = RunRequest { operation: operation.into(), input, settings, ..RunRequest::default() };
        crate::run(&self.world, &PrReview::new(), request, cursor, observer).await.unwrap()
    }

    /// Makes every pull request tell at once whether it can be merged.
    fn settle(&self) {
        for pull in self.twin.pulls(REPO).iter().filter(|pull| pull.mergeable.is_none()) {
            self.twin.edit(REPO, pull.number, |pull, _| pull.mergeable = Some(true));
        }
    }
}

fn input(more: &Value) -> Value {
    let mut input = json!({"repo": [REPO]});
    more.as_object().unwrap().iter().for_each(|(key, value)| input[key] = value.clone());
    input
}

fn numbers(payload: &Payload) -> Vec<u64> {
    payload.items.iter().map(|item| item["number"].as_u64().unwrap()).collect()
}
