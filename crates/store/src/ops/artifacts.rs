//! Records of stored files. The bytes are the hub's.

use loom_domain::{
    AgentId, Artifact, ArtifactId, Error, Message, Principal, Result, Timestamp,
    artifact::{Direction, FILE_BYTES_MAX},
    message::AttachmentStatus,
};

use crate::{Act, Store, docs, params, tx::Tx};

/// Rows of one look for unreferenced files.
const UNREFERENCED_MAX: i64 = 500;
const DIGEST_CHARS: usize = 64;
const NAME_BYTES_MAX: usize = 255;

/// Messages of one file that are looked at.
const MESSAGES_MAX: i64 = 500;

/// What a stored file is to the principal that wants to send it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The principal may name it: any but an Agent, or the Agent that uploaded or received it.
    pub is_known: bool,
    /// It came from a platform and nobody has let it through.
    pub is_held: bool,
}

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
                uploaded_by: agent_of(&unit.principal).cloned(),
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

    /// What a file is to a principal.
    pub async fn artifact_standing(&self, who: Principal, artifact: Artifact) -> Result<Standing> {
        self.read(move |tx| {
            let of_artifact =
                "id IN (SELECT owner_id FROM artifact_refs WHERE artifact_id = ?1) ORDER BY seq LIMIT ?2";
            let messages: Vec<Message> =
                docs::select(tx, of_artifact, &params![artifact.id.as_str(), MESSAGES_MAX])?;
            let is_known = match agent_of(&who) {
                None => true,
                Some(agent) if artifact.uploaded_by.as_ref() == Some(agent) => true,
                Some(agent) => has_received(tx, agent, &messages)?,
            };
            Ok(Standing { is_known, is_held: is_held(&artifact, &messages) })
        })
        .await
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

fn agent_of(who: &Principal) -> Option<&AgentId> {
    match who {
        Principal::Agent(agent) => Some(agent),
        _ => None,
    }
}

/// Whether one of the Messages is in the Agent's Inbox.
fn has_received(tx: &mut dyn Tx, agent: &AgentId, messages: &[Message]) -> Result<bool> {
    let sql = "SELECT 1 FROM inbox WHERE message_id = ?1 AND agent_id = ?2 LIMIT 1";
    for message in messages {
        if tx.first(sql, &params![message.id.as_str(), agent.as_str()])?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A file of a platform goes on only where a Message has it as ready, and no Message has it as anything else.
fn is_held(artifact: &Artifact, messages: &[Message]) -> bool {
    let edited = messages.iter().flat_map(|m| &m.revisions).filter_map(|r| r.content.as_ref());
    let contents = messages.iter().map(|m| &m.content).chain(edited);
    let mut places = contents
        .flat_map(|content| &content.attachments)
        .filter(|file| file.artifact_id.as_ref() == Some(&artifact.id))
        .peekable();
    let is_loose = artifact.direction == Direction::In && places.peek().is_none();
    is_loose || places.any(|file| file.status != AttachmentStatus::Ready)
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
