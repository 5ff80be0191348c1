//! Files on their way in: written aside and hashed while they come, and refused when they are not what was
//! announced.

use bytes::Bytes;
use loom_domain::{
    Artifact, Code, Error, Principal, Result,
    artifact::{Direction, FILE_BYTES_MAX},
};

use crate::blobs::Aside;
use crate::hub::Hub;
use crate::shares::Share;

/// Uploads of one principal at once.
const UPLOADS_OF_PRINCIPAL_MAX: usize = 4;
/// After how long a principal without a place may ask again.
const RETRY_MS: u64 = 1_000;

/// An upload in progress. What is dropped before its end leaves nothing.
pub struct Upload {
    hub: Hub,
    share: Share<Principal>,
    name: String,
    announced: Option<String>,
    /// What has come; none before the first bytes.
    aside: Option<Aside>,
}

impl Hub {
    /// Starts an upload. An announced size over the limit is `too_large` before any byte is read, and one
    /// principal's uploads beyond a few at once are `rate_limited`.
    pub fn upload(
        &self,
        principal: Principal,
        name: Option<String>,
        sha256: Option<String>,
        size: Option<u64>,
    ) -> Result<Upload> {
        if size.is_some_and(|size| !(1..=FILE_BYTES_MAX).contains(&size)) {
            return Err(too_large());
        }
        let share = self.inner.uploads.take(principal, UPLOADS_OF_PRINCIPAL_MAX);
        Ok(Upload {
            hub: self.clone(),
            share: share.ok_or_else(too_many)?,
            name: name.unwrap_or_else(|| "file".to_owned()),
            announced: sha256,
            aside: None,
        })
    }
}

fn too_large() -> Error {
    Error::new(Code::TooLarge, format!("a file has 1 to {FILE_BYTES_MAX} bytes"))
}

fn too_many() -> Error {
    let why = format!("there are at most {UPLOADS_OF_PRINCIPAL_MAX} uploads at once");
    let mut error =
        Error::new(Code::RateLimited, why).with_hint("wait for one of your uploads, then ask again");
    error.retry_after_ms = Some(RETRY_MS);
    error
}

impl Upload {
    /// Takes the next bytes.
    pub async fn write(&mut self, bytes: Bytes) -> Result<()> {
        let before = self.aside.as_ref().map_or(0, Aside::size);
        let total = before.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        if total > FILE_BYTES_MAX {
            return Err(too_large());
        }
        self.aside = Some(self.hub.blobs().append(self.aside.take(), bytes).await?);
        Ok(())
    }

    /// Stores the file. Other bytes than announced are `artifact_changed`, and nothing is kept.
    pub async fn finish(self) -> Result<Artifact> {
        let aside = self.hub.blobs().append(self.aside, Bytes::new()).await?;
        if self.announced.is_some_and(|announced| announced != aside.sha256()) {
            return Err(Error::new(Code::ArtifactChanged, "the file's bytes differ from what was announced"));
        }
        let act = self.hub.act(self.share.of().clone());
        self.hub.keep_artifact(act, &self.name, None, Direction::Out, aside).await
    }
}
