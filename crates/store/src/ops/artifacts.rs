//! Records of stored files. The bytes are the hub's.

use loom_domain::{
    Artifact, ArtifactId, Error, Result, Timestamp,
    artifact::{Direction, FILE_BYTES_MAX},
    message::AttachmentStatus,
};

use crate::{Act, Store, docs, params};

/// Rows of one look for unreferenced files.
const UNREFERENCED_MAX: i64 = 500;
const DIGEST_CHARS: usize = 64;
const NAME_BYTES_MAX: usize = 255;

/// A file whose bytes are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewArtifact {
    /// Digest, hex SHA-256.
    pub sha256: String,
    /// Size, bytes.
    pub size: u64,
    /// Sniffed type.
    pub mime_type: String,
    /// Declared type.
    pub declared_mime: Option<String>,
    /// Safe base name.
    pub name: String,
    /// Which way it goes.
    pub direction: Direction,
    /// State.
    pub status: AttachmentStatus,
}

impl Store {
    /// Records a stored file.
    pub async fn put_artifact(&self, act: Act, new: NewArtifact) -> Result<Artifact> {
        check(&new)?;
        self.write(act, move |unit| {
            let artifact = Artifact {
                id: ArtifactId::new(unit.now.0, unit.random()),
                seq: unit.seq()?,
                sha256: new.sha256.clone(),
                size: new.size,
                mime_type: new.mime_type.clone(),
                declared_mime: new.declared_mime.clone(),
                name: new.name.clone(),
                direction: new.direction,
                status: new.status,
                created_at: unit.now,
            };
            docs::insert(unit.tx, &artifact)?;
            Ok(artifact)
        })
        .await
    }

    /// A file's record.
    pub async fn artifact(&self, id: ArtifactId) -> Result<Artifact> {
        self.read(move |tx| docs::require(tx, id.as_str())).await
    }

    /// Files older than a time that nothing refers to, oldest first.
    pub async fn unreferenced_artifacts(&self, before: Timestamp) -> Result<Vec<Artifact>> {
        self.read(move |tx| {
            docs::select(
                tx,
                "created_at < ?1 AND NOT EXISTS (SELECT 1 FROM artifact_refs r WHERE r.artifact_id = artifacts.id) ORDER BY seq LIMIT ?2",
                &params![before, UNREFERENCED_MAX],
            )
        })
        .await
    }

    /// Removes the record of a file that nothing refers to. True when no other record names the same bytes, which
    /// may be removed then.
    pub async fn delete_artifact(&self, act: Act, id: ArtifactId) -> Result<bool> {
        self.write(act, move |unit| {
            let artifact: Artifact = docs::require_locked(unit.tx, id.as_str())?;
            let referred = "SELECT 1 FROM artifact_refs WHERE artifact_id = ?1 LIMIT 1";
            if unit.tx.first(referred, &params![id.as_str()])?.is_some() {
                return Ok(false);
            }
            unit.tx.execute("DELETE FROM artifacts WHERE id = ?1", &params![id.as_str()])?;
            let same = "SELECT 1 FROM artifacts WHERE sha256 = ?1 LIMIT 1";
            Ok(unit.tx.first(same, &params![artifact.sha256.as_str()])?.is_none())
        })
        .await
    }

    /// Whether a record names these bytes.
    pub async fn knows_blob(&self, sha256: String) -> Result<bool> {
        self.read(move |tx| {
            Ok(tx.first("SELECT 1 FROM artifacts WHERE sha256 = ?1 LIMIT 1", &params![sha256])?.is_some())
        })
        .await
    }
}

fn check(new: &NewArtifact) -> Result<()> {
    let is_hex = new.sha256.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    if new.sha256.len() != DIGEST_CHARS || !is_hex {
        return Err(Error::invalid("sha256", "use 64 lower-case hex digits"));
    }
    if new.size > FILE_BYTES_MAX {
        return Err(Error::new(
            loom_domain::Code::TooLarge,
            format!("a file has at most {FILE_BYTES_MAX} bytes"),
        ));
    }
    let is_base =
        !new.name.is_empty() && new.name.len() <= NAME_BYTES_MAX && !new.name.contains(['/', '\\', '\0']);
    if !is_base {
        return Err(Error::invalid("name", "use a base name"));
    }
    Ok(())
}
