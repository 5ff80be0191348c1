//! Inbound files: fetched after the item is queued, judged by type, given to the Agent as read-only copies.

mod fetch;
mod sniff;

use std::path::PathBuf;
use std::time::Duration;

use loom_domain::{ArtifactId, Message, Result, message::AttachmentStatus};
use loom_runtimes::{ArtifactRef, Input};
use loom_store::ops::turns::Claimed;

use crate::hub::Hub;

pub(crate) use sniff::sniff;

/// Longest wait of a claim for its files.
const WAIT: Duration = Duration::from_secs(30);

/// A file that the Agent may open.
#[derive(Debug, Clone)]
pub(super) struct Copy {
    pub(super) artifact_id: ArtifactId,
    pub(super) path: PathBuf,
    reference: ArtifactRef,
}

impl Copy {
    /// The file as runtimes take it.
    pub(super) fn as_input(&self) -> Input {
        match self.reference.mime.starts_with("image/") {
            true => Input::Image(self.reference.clone()),
            false => Input::File(self.reference.clone()),
        }
    }
}

/// Fetches what is pending, within the wait, and gives the Message with the present statuses.
pub(super) async fn ready(hub: &Hub, claimed: &Claimed) -> Result<Message> {
    let message = claimed.message.clone();
    let is_pending = message.current().attachments.iter().any(|a| a.status == AttachmentStatus::Pending);
    let (true, Some(connection), Some(address)) = (is_pending, &claimed.connection, &claimed.address) else {
        return Ok(message);
    };
    let Some(channel) = hub.channel(&connection.id) else { return Ok(message) };
    let fetching = fetch::all(hub, channel.as_ref(), address.attachment_policy, &message);
    let Ok(attachments) = tokio::time::timeout(WAIT, fetching).await else { return Ok(message) };
    hub.store().set_attachments(hub.act(loom_domain::Principal::Hub), message.id.clone(), attachments).await
}

/// References to the stored files of a Message; only what is ready is given.
pub(super) async fn copies(hub: &Hub, claimed: &Claimed, message: &Message) -> Result<Vec<Copy>> {
    let host = hub.inner.runtimes.host(&claimed.agent)?;
    let key = loom_runtimes::TurnKey(claimed.turn.id.clone());
    let mut copies = Vec::new();
    for attachment in message.current().attachments.iter().filter(|a| a.status == AttachmentStatus::Ready) {
        let (Some(artifact_id), Some(sha256)) = (&attachment.artifact_id, &attachment.sha256) else {
            continue;
        };
        let reference = ArtifactRef {
            path: hub.blobs().verified(sha256).await?,
            name: attachment.name.clone(),
            mime: attachment.mime_type.clone().unwrap_or_else(|| "application/octet-stream".to_owned()),
            sha256: sha256.clone(),
        };
        let path = loom_runtimes::attachment_path(&host, &key, copies.len(), &reference);
        copies.push(Copy { artifact_id: artifact_id.clone(), path, reference });
    }
    Ok(copies)
}
