//! The source of the status routes: a store, the files beside it, and whoever knows the gateways.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use loom_api::{Client, Endpoint, Page, view};
use loom_capabilities::{Catalog, HistoryFilter, PayloadStore, World};
use loom_domain::{Error, Result, Timestamp};
use loom_hub::Hub;
use loom_transport::log::{Wanted, latest};
use serde_json::Value;

use super::document::{self, Facts};
use super::tally::Tally;
use super::{HomeStore, StatusSource, catalog, series};
use crate::Clock;

/// Time that a hub gets to tell of its gateways.
const HUB_WAIT: Duration = Duration::from_secs(2);
/// Connections that are told.
const CONNECTIONS_MAX: u32 = 200;
/// Runs of connectors that are looked through for their newest ones.
const RUNS_MAX: usize = 1_000;

/// Who knows how the gateways are.
#[derive(Debug, Clone)]
pub enum Live {
    /// This process.
    Here(Hub),
    /// A hub at a socket, if one answers.
    Socket(PathBuf),
}

/// The source of the status routes.
pub struct Figures {
    home: PathBuf,
    store: HomeStore,
    live: Live,
    world: Option<Arc<World>>,
    clock: Clock,
    started_at: Timestamp,
    tally: Tally,
}

impl Figures {
    /// Watches a home and its store, if there is one yet.
    pub fn new(home: PathBuf, store: HomeStore, live: Live, clock: Clock) -> Self {
        let started_at = clock();
        Figures { home, store, live, world: None, clock, started_at, tally: Tally::since(started_at) }
    }

    /// Adds what readiness of capabilities is judged with.
    pub fn with_world(mut self, world: World) -> Self {
        self.world = Some(Arc::new(world));
        self
    }

    /// The hub's own word about itself and its Connections; nothing when no hub answers.
    async fn gateways(&self) -> Option<(String, Vec<view::ConnectionEntry>)> {
        match &self.live {
            Live::Here(hub) => {
                let state = hub.status(Vec::new(), self.started_at).await.ok()?.state;
                let mut entries = self.entries().await.ok()?;
                for entry in &mut entries {
                    let health = hub.health_view(&entry.connection.id).await.ok()?;
                    (entry.state, entry.reason) = (health.state, health.reason);
                    entry.health = Some(health);
                }
                Some((state, entries))
            }
            Live::Socket(path) => {
                let hub = Client::new(Endpoint::Unix(path.clone()), None);
                let asked = async {
                    let status: view::HubStatus = hub.get(loom_api::routes::status()).run().await?;
                    let path = format!("{}?limit={CONNECTIONS_MAX}", loom_api::routes::connections());
                    let page: Page<view::ConnectionEntry> = hub.get(path).run().await?;
                    Ok::<_, Error>((status.state, page.items))
                };
                tokio::time::timeout(HUB_WAIT, asked).await.ok()?.ok()
            }
        }
    }

    /// Connections as the store knows them.
    async fn entries(&self) -> Result<Vec<view::ConnectionEntry>> {
        let Some(store) = self.store.find().await? else { return Ok(Vec::new()) };
        let query = loom_api::query::Connections {
            limit: Some(CONNECTIONS_MAX),
            ..loom_api::query::Connections::default()
        };
        Ok(store.list_connections(query, Vec::new()).await?.items)
    }

    async fn facts(&self) -> Result<Facts> {
        let (hub, connections, observed) = match self.gateways().await {
            Some((state, entries)) => (state, entries, true),
            None => ("not_running".to_owned(), self.entries().await?, false),
        };
        let figures = match self.store.find().await? {
            Some(store) => Some(store.figures().await?),
            None => None,
        };
        let now = (self.clock)();
        Ok(Facts { hub, observed, connections, figures, now, started_at: self.started_at })
    }

    async fn runs(&self, filter: HistoryFilter) -> Result<Vec<loom_capabilities::Row>> {
        let payloads = PayloadStore::new(&self.home);
        blocking(move || payloads.history(&filter)).await
    }
}

/// Runs what reads files beside the tasks that serve.
async fn blocking<T: Send + 'static>(read: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(read).await.map_err(Error::internal)?
}

#[async_trait]
impl StatusSource for Figures {
    async fn status(&self) -> Result<Value> {
        let lines = self.capabilities().await?;
        let runs = self.runs(HistoryFilter { limit: RUNS_MAX, ..HistoryFilter::default() }).await?;
        Ok(document::status(&self.facts().await?, &lines, &runs))
    }

    async fn capabilities(&self) -> Result<Vec<Value>> {
        let home = self.home.clone();
        let catalog = blocking(move || Catalog::of_home(&home)).await?.0;
        Ok(catalog::lines(&catalog, self.world.as_deref()).await)
    }

    async fn capability(&self, id: String) -> Result<Value> {
        let home = self.home.clone();
        let wanted = id.clone();
        let catalog = blocking(move || Catalog::for_id(&wanted, &home)).await?;
        catalog::entry(&**catalog.capability(&id)?, self.world.as_deref()).await
    }

    async fn payload(&self, id: String) -> Result<Value> {
        let payloads = PayloadStore::new(&self.home);
        blocking(move || payloads.show(&id)).await
    }

    async fn requests(&self, limit: usize) -> Result<Vec<Value>> {
        let dir = self.home.join("logs");
        blocking(move || {
            latest(&dir, &Wanted::default(), limit)
                .map_err(|_| Error::internal("the log of requests cannot be read"))
        })
        .await
    }

    async fn series(&self) -> Result<String> {
        let facts = self.facts().await?;
        let (since, until) = self.tally.window(facts.now);
        let runs = self
            .runs(HistoryFilter { since: Some(since), limit: RUNS_MAX, ..HistoryFilter::default() })
            .await?;
        let dir = self.home.join("logs");
        let wanted = Wanted { since: Some(since), ..Wanted::default() };
        let requests = blocking(move || Ok(latest(&dir, &wanted, RUNS_MAX).unwrap_or_default())).await?;
        let told = self.tally.add(since, until, &runs, &requests);
        Ok(series::text(&facts, &told))
    }
}
