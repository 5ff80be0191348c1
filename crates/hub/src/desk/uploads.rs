//! Files on their way in: hashed while they come, and refused when they are not what was announced.

use bytes::{Bytes, BytesMut};
use loom_domain::{
    Artifact, Code, Error, Principal, Result,
    artifact::{Direction, FILE_BYTES_MAX},
};
use sha2::{Digest as _, Sha256};

use crate::hub::Hub;

/// An upload in progress.
pub struct Upload {
    hub: Hub,
    principal: Principal,
    name: String,
    announced: Option<String>,
    bytes: BytesMut,
    hasher: Sha256,
}

impl Hub {
    /// Starts an upload. An announced size over the limit is `too_large` before any byte is read.
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
        Ok(Upload {
            hub: self.clone(),
            principal,
            name: name.unwrap_or_else(|| "file".to_owned()),
            announced: sha256,
            bytes: BytesMut::new(),
            hasher: Sha256::new(),
        })
    }
}

fn too_large() -> Error {
    Error::new(Code::TooLarge, format!("a file has 1 to {FILE_BYTES_MAX} bytes"))
}

impl Upload {
    /// Takes the next bytes.
    pub fn write(&mut self, bytes: &Bytes) -> Result<()> {
        let total = u64::try_from(self.bytes.len() + bytes.len()).unwrap_or(u64::MAX);
        if total > FILE_BYTES_MAX {
            return Err(too_large());
        }
        self.hasher.update(bytes);
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Stores the file. Other bytes than announced are `artifact_changed`, and nothing is kept.
    pub async fn finish(self) -> Result<Artifact> {
        let found = hex::encode(self.hasher.finalize());
        if self.announced.is_some_and(|announced| announced != found) {
            return Err(Error::new(Code::ArtifactChanged, "the file's bytes differ from what was announced"));
        }
        let act = self.hub.act(self.principal);
        self.hub.put_artifact(act, &self.name, None, Direction::Out, self.bytes.freeze()).await
    }
}
