//! A server that watches a home from outside: a viewer's token of its own, and events read from the store.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use loom_domain::{Code, Error, Principal, Result, TokenId};
use loom_secrets::private_file::{read_private, write_private};
use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::{Figures, HomeStore};
use crate::desk::{read_events, silent::Silent, stored_token};
use crate::token::Presented;
use crate::{
    Clock, Doors, EventSource, History, Metrics, QUEUE_MAX, Readiness, SECRET_BYTES, Scopes, StoredToken,
    StreamEvent, TokenKind, TokenStore, mint, secret_sha256,
};

/// Name of the file with the viewer's token.
const TOKEN_FILE: &str = "status-token";
/// Rest between two looks at the store; another process writes it, so nothing wakes this one.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Events read at once.
const PAGE: u32 = 256;

/// What a watching server is made of.
pub struct Watched {
    /// Data directory.
    pub home: PathBuf,
    /// Its store, opened for reading once there is one.
    pub store: HomeStore,
    /// The time of day.
    pub clock: Clock,
    /// Randomness for the first token.
    pub random: [u8; SECRET_BYTES],
    /// The answers.
    pub figures: Figures,
}

/// The doors of a watching server, and where its token lies.
pub fn watching(watched: Watched) -> Result<(Doors, PathBuf)> {
    let Watched { home, store, clock, random, figures } = watched;
    let path = home.join(TOKEN_FILE);
    let viewer = viewer(&path, &clock, &random)?;
    let doors = Doors {
        desk: Arc::new(Silent),
        tokens: Arc::new(Tokens { viewer, store: store.clone() }),
        events: Arc::new(Events { store: store.clone(), live: broadcast::Sender::new(QUEUE_MAX) }),
        readiness: Arc::new(Watch { store: store.clone() }),
        status: Arc::new(figures),
        clock,
        is_runtime_child: Arc::new(|_| false),
        holds_secret: Arc::new(|_| false),
        metrics: Arc::new(Metrics::new(env!("CARGO_PKG_VERSION"), Vec::new())),
    };
    Ok((doors, path))
}

/// The viewer's token: read from its private file, which is made at the first start.
fn viewer(path: &Path, clock: &Clock, random: &[u8; SECRET_BYTES]) -> Result<(TokenId, StoredToken)> {
    if path.symlink_metadata().is_err() {
        let low = u128::from_ne_bytes(random.first_chunk().copied().unwrap_or_default());
        let minted = mint(TokenKind::Person, TokenId::new(clock().0, low), random);
        write_private(path, minted.value.as_bytes())?;
    }
    let bytes = read_private(path)?;
    let damaged = || {
        Error::new(Code::CredentialFileRefused, "the status token's file does not hold a token")
            .with_hint("Remove the file; the next start makes a new one.")
    };
    let text = std::str::from_utf8(&bytes).map_err(|_| damaged())?;
    let presented = Presented::parse(text.trim()).ok_or_else(damaged)?;
    let stored = StoredToken {
        principal: Principal::Viewer,
        scopes: Scopes::All,
        sha256: secret_sha256(presented.secret),
        expires_at: None,
        revoked: false,
    };
    Ok((presented.id, stored))
}

struct Tokens {
    viewer: (TokenId, StoredToken),
    store: HomeStore,
}

#[async_trait]
impl TokenStore for Tokens {
    async fn lookup(&self, id: &TokenId) -> Result<Option<StoredToken>> {
        match self.store.known() {
            _ if *id == self.viewer.0 => Ok(Some(self.viewer.1.clone())),
            Some(store) => store.token(id.clone()).await?.as_ref().map(stored_token).transpose(),
            None => Ok(None),
        }
    }
}

struct Watch {
    store: HomeStore,
}

#[async_trait]
impl Readiness for Watch {
    async fn readiness(&self) -> (bool, Value) {
        // Anybody may ask, so it costs one read of the store and nothing more.
        let readable = match self.store.known() {
            Some(store) => store.feed_range().await.is_ok(),
            None => true,
        };
        (readable, json!({"ok": readable}))
    }
}

struct Events {
    store: HomeStore,
    live: broadcast::Sender<Arc<StreamEvent>>,
}

#[async_trait]
impl EventSource for Events {
    fn subscribe(&self) -> broadcast::Receiver<Arc<StreamEvent>> {
        self.live.subscribe()
    }

    async fn after(&self, seq: u64, limit: usize) -> Result<History> {
        let Some(store) = self.store.find().await? else { return Ok(History::Events(Vec::new())) };
        let (oldest, _) = store.feed_range().await?;
        if seq > 0 && seq.saturating_add(1) < oldest {
            return Ok(History::Gone);
        }
        let limit = u32::try_from(limit).unwrap_or(PAGE);
        Ok(History::Events(read_events(store, seq, limit).await?.1))
    }

    async fn pump(&self, stop: CancellationToken) {
        let mut seq = match self.store.known() {
            Some(store) => store.feed_range().await.map_or(0, |(_, newest)| newest),
            // All that a later store tells is new.
            None => 0,
        };
        let mut looks = tokio::time::interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = looks.tick() => {}
            }
            match self.further(seq).await {
                Ok((reached, events)) => {
                    seq = reached;
                    for event in events {
                        // Without readers there is nobody to tell.
                        let _ = self.live.send(event);
                    }
                }
                Err(error) => tracing::warn!(code = %error.code, "the events could not be read"),
            }
        }
    }
}

impl Events {
    async fn further(&self, seq: u64) -> Result<(u64, Vec<Arc<StreamEvent>>)> {
        match self.store.find().await? {
            Some(store) => read_events(store, seq, PAGE).await,
            None => Ok((seq, Vec::new())),
        }
    }
}
