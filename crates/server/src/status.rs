//! What the status routes tell: figures of the store, states of Connections, connectors and their runs.
//!
//! The same answers come from a hub and from a server that only watches one. Nothing here changes anything.

mod catalog;
mod document;
mod figures;
mod home_store;
mod page;
mod series;
mod tally;
mod watched;

pub(crate) use document::weak_tag;
pub use figures::{Figures, Live};
pub use home_store::HomeStore;
pub(crate) use page::html;
pub use watched::{Watched, watching};

use async_trait::async_trait;
use loom_domain::Error;
use serde_json::Value;

/// Where the answers of the status routes come from.
#[async_trait]
pub trait StatusSource: Send + Sync + 'static {
    /// The document `loom.status/v1`.
    async fn status(&self) -> Result<Value, Error>;
    /// Lines of the catalog, built-ins first.
    async fn capabilities(&self) -> Result<Vec<Value>, Error>;
    /// The entry of one capability with its schemas.
    async fn capability(&self, id: String) -> Result<Value, Error>;
    /// A stored payload.
    async fn payload(&self, id: String) -> Result<Value, Error>;
    /// Logged requests, the newest first.
    async fn requests(&self, limit: usize) -> Result<Vec<Value>, Error>;
    /// Gauges and counters of what is told here, as `OpenMetrics` text.
    async fn series(&self) -> Result<String, Error>;
}
