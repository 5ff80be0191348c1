//! Stored files, taken in and given out chunk by chunk.

use bytes::Bytes;
use futures_util::stream::BoxStream;
use loom_api::query;
use loom_domain::{Artifact, ArtifactId, Error, Principal};

use super::desk;

/// A file on its way in. Dropped before its end, it leaves nothing behind.
#[async_trait::async_trait]
pub trait Incoming: Send {
    /// Takes the next bytes.
    async fn write(&mut self, bytes: Bytes) -> Result<(), Error>;
    /// Checks size and digest against what was announced, and stores.
    async fn finish(self: Box<Self>) -> Result<Artifact, Error>;
}

/// A file on its way out.
pub struct Download {
    /// What it is.
    pub artifact: Artifact,
    /// Its bytes.
    pub bytes: BoxStream<'static, std::io::Result<Bytes>>,
}

desk! {
    /// Stored files.
    Artifacts {
        /// Starts an upload.
        upload(principal: Principal, announced: query::Upload) -> Box<dyn Incoming>;
        /// Opens a stored file.
        download(principal: Principal, id: ArtifactId) -> Download;
    }
}
