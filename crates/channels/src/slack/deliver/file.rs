//! File Parts: upload URL, bytes, complete; only the last step is visible.

use std::time::Duration;

use loom_domain::Timestamp;
use loom_domain::outbox::Step;
use loom_transport::FileBody;
use serde_json::{Map, Value, json};

use super::super::Inner;
use super::super::errors::{Effect, transport_fault};
use super::super::wire::{list, text, ts_ms};
use super::thread_of;
use crate::sending::{commit, file_of, open_checked};
use crate::{Fault, FaultClass, OutFile, Progress, SendPart, SentIds};

/// Waits between looks for the message of a completed upload.
const SHARE_WAITS_MS: [u64; 6] = [100, 300, 700, 1_500, 3_000, 5_000];

impl Inner {
    pub(super) async fn deliver_file(
        &self,
        part: &SendPart,
        progress: &dyn Progress,
    ) -> Result<SentIds, Fault> {
        let file = file_of(part)?;
        let body = open_checked(file).await?;
        commit(progress, Step::Upload, None).await?;
        let (url, file_id) = self.upload_url(file).await?;
        commit(progress, Step::Upload, Some(&file_id)).await?;
        self.upload(&url, body).await?;
        commit(progress, Step::Publish, Some(&file_id)).await?;
        let answer = self
            .api
            .call("files.completeUploadExternal", complete(part, file, &file_id), Effect::Publish)
            .await?;
        if list(&answer.body, "files").is_empty() {
            return Err(Fault::new(
                FaultClass::Unknown,
                "missing_file",
                "the completed upload names no file",
            ));
        }
        let ts = self.message_of(&part.conversation_id, &file_id).await;
        Ok(file_ids(part, file_id, ts))
    }

    async fn upload_url(&self, file: &OutFile) -> Result<(String, String), Fault> {
        let params = json!({"filename": file.name, "length": file.size});
        let answer = self.api.read_call("files.getUploadURLExternal", params).await?;
        match (text(&answer.body, "upload_url"), text(&answer.body, "file_id")) {
            (Some(url), Some(id)) => Ok((url.to_owned(), id.to_owned())),
            _ => Err(Fault::new(FaultClass::Retryable, "missing_upload_url", "slack gave no upload url")),
        }
    }

    async fn upload(&self, url: &str, body: FileBody) -> Result<(), Fault> {
        let none = |code: &str, message: String| transport_fault(code, message, true, Effect::None);
        let reply = self
            .api
            .http()
            .upload(url, body)
            .await
            .map_err(|fault| none(fault.code, format!("upload: {}", fault.message)))?;
        if reply.status == 200 {
            Ok(())
        } else {
            Err(none("http_status", format!("upload: HTTP status {}", reply.status)))
        }
    }

    /// The message a completed file appeared in: from its echo, else from the file's shares.
    async fn message_of(&self, channel: &str, file_id: &str) -> Option<String> {
        for wait in SHARE_WAITS_MS {
            if let Some(ts) = self.echoes.wait(channel, file_id, Duration::from_millis(wait)).await {
                return Some(ts);
            }
            if let Ok(Some(ts)) = self.share_of(channel, file_id).await {
                return Some(ts);
            }
        }
        None
    }

    /// The message in which a file is shared in a conversation.
    pub(in super::super) async fn share_of(
        &self,
        channel: &str,
        file_id: &str,
    ) -> Result<Option<String>, Fault> {
        let answer = self.api.read_call("files.info", json!({"file": file_id})).await?;
        let shares = answer.body.get("file").and_then(|file| file.get("shares")).and_then(Value::as_object);
        let found = shares.into_iter().flatten().find_map(|(_, by_channel)| {
            list(by_channel, channel).iter().find_map(|share| text(share, "ts")).map(str::to_owned)
        });
        Ok(found)
    }
}

/// Ids of a delivered file.
pub(in super::super) fn file_ids(part: &SendPart, file_id: String, ts: Option<String>) -> SentIds {
    SentIds {
        provider_time: ts.as_deref().and_then(ts_ms).map(Timestamp),
        message_id: ts,
        file_id: Some(file_id),
        thread_id: thread_of(part).map(str::to_owned),
        permalink: None,
    }
}

fn complete(part: &SendPart, file: &OutFile, file_id: &str) -> Value {
    let mut params = Map::new();
    params.insert("files".into(), json!([{"id": file_id, "title": file.name}]));
    params.insert("channel_id".into(), json!(part.conversation_id));
    if let Some(thread) = thread_of(part) {
        params.insert("thread_ts".into(), json!(thread));
    }
    Value::Object(params)
}
