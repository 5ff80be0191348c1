//! Stored files of a hub.

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt as _;
use loom_api::query;
use loom_domain::{Artifact, ArtifactId, Code, Error, Principal};
use tokio_util::io::ReaderStream;

use super::HubDesk;
use crate::desk::{Artifacts, Download, Incoming};

#[async_trait]
impl Artifacts for HubDesk {
    async fn upload(&self, who: Principal, announced: query::Upload) -> Result<Box<dyn Incoming>, Error> {
        let upload = self.hub.upload(who, announced.name, announced.sha256, announced.size)?;
        Ok(Box::new(upload))
    }

    /// Agents get the files of their items in their own folder, so only the owner reads the store.
    async fn download(&self, who: Principal, id: ArtifactId) -> Result<Download, Error> {
        who.require_owner()?;
        let artifact = self.hub.store().artifact(id).await?;
        let path = self.hub.blobs().verified(&artifact.sha256).await?;
        let file = tokio::fs::File::open(path)
            .await
            .map_err(|_| Error::new(Code::ArtifactMissing, "the file is not in the store"))?;
        Ok(Download { artifact, bytes: ReaderStream::new(file).boxed() })
    }
}

#[async_trait]
impl Incoming for loom_hub::Upload {
    async fn write(&mut self, bytes: Bytes) -> Result<(), Error> {
        loom_hub::Upload::write(self, bytes).await
    }
    async fn finish(self: Box<Self>) -> Result<Artifact, Error> {
        loom_hub::Upload::finish(*self).await
    }
}
