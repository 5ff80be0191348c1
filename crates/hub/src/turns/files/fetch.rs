//! Fetches the files of one Message through its Connection, within the limits.

use std::time::Duration;

use loom_channels::{Channel, FaultClass};
use loom_domain::{
    AttachmentPolicy, Code, Message, Principal,
    artifact::{Direction, FILE_BYTES_MAX, MESSAGE_FILES_BYTES_MAX},
    message::{Attachment, AttachmentStatus},
};

use super::sniff::{is_safe, sniff};
use crate::hub::Hub;

/// Waits before the second and third try; the claim's own wait ends them earlier.
const RETRIES: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(15)];

/// Fetches every pending file and gives all of them with their new status.
pub(super) async fn all(
    hub: &Hub,
    channel: &dyn Channel,
    policy: AttachmentPolicy,
    message: &Message,
) -> Vec<Attachment> {
    let mut room = MESSAGE_FILES_BYTES_MAX;
    let mut out = Vec::new();
    for attachment in message.current().attachments.clone() {
        let fetched = if attachment.status == AttachmentStatus::Pending {
            one(hub, channel, policy, attachment, &mut room).await
        } else {
            attachment
        };
        out.push(fetched);
    }
    out
}

async fn one(
    hub: &Hub,
    channel: &dyn Channel,
    policy: AttachmentPolicy,
    mut file: Attachment,
    room: &mut u64,
) -> Attachment {
    let ended = |mut file: Attachment, status: AttachmentStatus, why: &str| {
        file.status = status;
        file.reason = Some(why.to_owned());
        file
    };
    if policy == AttachmentPolicy::None {
        return ended(file, AttachmentStatus::Dropped, "policy");
    }
    let limit = FILE_BYTES_MAX.min(*room);
    if file.size.is_some_and(|size| size > limit) {
        return ended(file, AttachmentStatus::TooLarge, "over the limit");
    }
    let fetched = match fetch(channel, &file.reference, limit).await {
        Ok(fetched) => fetched,
        Err((status, why)) => return ended(file, status, &why),
    };
    let size = u64::try_from(fetched.bytes.len()).unwrap_or(u64::MAX);
    *room = room.saturating_sub(size);
    let found = sniff(&fetched.bytes, &file.name);
    let declared = file.mime_type.clone().or(fetched.mime_type);
    let stored = hub
        .put_artifact(hub.act(Principal::Hub), &file.name, declared.clone(), Direction::In, fetched.bytes)
        .await;
    match stored {
        Ok(artifact) => {
            let passes = policy == AttachmentPolicy::All || is_safe(found, declared.as_deref(), &file.name);
            file.status = if passes { AttachmentStatus::Ready } else { AttachmentStatus::Quarantined };
            file.reason = (!passes).then(|| "type".to_owned());
            file.mime_type = Some(found.to_owned());
            file.size = Some(artifact.size);
            file.sha256 = Some(artifact.sha256);
            file.artifact_id = Some(artifact.id);
            file
        }
        Err(error) if error.code == Code::TooLarge => {
            ended(file, AttachmentStatus::TooLarge, "over the limit")
        }
        Err(error) => ended(file, AttachmentStatus::Failed, error.code.as_str()),
    }
}

async fn fetch(
    channel: &dyn Channel,
    reference: &str,
    limit: u64,
) -> Result<loom_channels::FetchedFile, (AttachmentStatus, String)> {
    let mut waits = RETRIES.iter();
    loop {
        match channel.fetch_attachment(reference, limit).await {
            Ok(file) => return Ok(file),
            Err(fault) if fault.code == "too_large" => {
                return Err((AttachmentStatus::TooLarge, "over the limit".to_owned()));
            }
            Err(fault) => {
                let may_retry = matches!(
                    fault.class,
                    FaultClass::Retryable | FaultClass::RateLimited | FaultClass::Unknown
                );
                match waits.next().filter(|_| may_retry) {
                    Some(wait) => tokio::time::sleep(*wait).await,
                    None => return Err((AttachmentStatus::Failed, fault.code)),
                }
            }
        }
    }
}
