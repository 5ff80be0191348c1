//! Files: uploads in progress, finished files, where they were shared.

use bytes::Bytes;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::world::World;

/// Largest file the twin takes, in bytes.
pub(super) const FILE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// One file; an upload in progress has no owner yet.
#[derive(Debug, Clone)]
pub(super) struct FileRecord {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) title: String,
    pub(super) declared_bytes: usize,
    pub(super) bytes: Bytes,
    pub(super) received: bool,
    pub(super) completed: bool,
    pub(super) upload_secret: String,
    pub(super) user: String,
    pub(super) shares: Vec<Share>,
    /// `hosted`, or `tombstone` / `hidden_by_limit` for files that cannot be read.
    pub(super) mode: String,
}

/// A message that shows the file.
#[derive(Debug, Clone)]
pub(super) struct Share {
    pub(super) channel: String,
    pub(super) ts: String,
    pub(super) thread_ts: Option<String>,
}

impl FileRecord {
    pub(super) fn sha256(&self) -> String {
        hex::encode(Sha256::digest(&self.bytes))
    }

    fn mimetype(&self) -> (&'static str, &'static str) {
        let extension = self.name.rsplit_once('.').map(|(_, e)| e.to_ascii_lowercase());
        match extension.as_deref() {
            Some("txt") => ("text/plain", "text"),
            Some("md") => ("text/markdown", "markdown"),
            Some("png") => ("image/png", "png"),
            Some("jpg" | "jpeg") => ("image/jpeg", "jpg"),
            Some("pdf") => ("application/pdf", "pdf"),
            Some("json") => ("application/json", "json"),
            Some("html") => ("text/html", "html"),
            _ => ("application/octet-stream", "binary"),
        }
    }

    /// Content type of a download.
    pub(super) fn content_type(&self) -> &'static str {
        self.mimetype().0
    }
}

impl World {
    /// The file object of messages and of `files.info`.
    pub(super) fn file_view(&self, id: &str) -> Option<Value> {
        let file = self.files.get(id)?;
        let (mimetype, filetype) = file.mimetype();
        let url = format!("{}/files-pri/{}-{}/{}", self.origin, self.cfg.team, file.id, url_name(&file.name));
        let mut view = json!({"id": file.id, "name": file.name, "title": file.title, "mimetype": mimetype,
            "filetype": filetype, "size": file.bytes.len(), "user": file.user, "mode": file.mode,
            "is_external": false, "is_public": false, "url_private": url,
            "permalink": format!("https://{}.slack.com/files/{}/{}", self.domain(), file.user, file.id)});
        if let Some(view) = view.as_object_mut() {
            let download = url.replacen("/files-pri/", "/files-pri/download/", 1);
            view.insert("url_private_download".into(), json!(download));
            view.insert("shares".into(), self.shares_view(&file.shares));
        }
        Some(view)
    }

    fn shares_view(&self, shares: &[Share]) -> Value {
        let (mut public, mut private) = (Map::new(), Map::new());
        for share in shares {
            let Some(channel) = self.channels.get(&share.channel) else { continue };
            let is_public = channel.kind == super::ChannelKind::Channel;
            let side = if is_public { &mut public } else { &mut private };
            let mut entry = json!({"ts": share.ts, "channel_name": channel.name, "team_id": self.cfg.team,
                "reply_users": [], "reply_count": 0});
            if let (Some(thread), Some(entry)) = (&share.thread_ts, entry.as_object_mut()) {
                entry.insert("thread_ts".into(), json!(thread));
            }
            let list = side.entry(share.channel.clone()).or_insert_with(|| json!([]));
            if let Some(list) = list.as_array_mut() {
                list.push(entry);
            }
        }
        let mut view = Map::new();
        for (key, side) in [("public", public), ("private", private)] {
            if !side.is_empty() {
                view.insert(key.into(), Value::Object(side));
            }
        }
        Value::Object(view)
    }

    /// Makes a finished file that belongs to a person.
    pub(super) fn add_file(&mut self, user: &str, name: &str, bytes: Bytes) -> String {
        let id = self.ids.id("F");
        let file = FileRecord {
            id: id.clone(),
            name: name.into(),
            title: name.into(),
            declared_bytes: bytes.len(),
            bytes,
            received: true,
            completed: true,
            upload_secret: String::new(),
            user: user.into(),
            shares: Vec::new(),
            mode: "hosted".into(),
        };
        self.files.insert(id.clone(), file);
        id
    }

    /// The team's host label.
    pub(super) fn domain(&self) -> String {
        format!("twin-{}", self.cfg.team.to_ascii_lowercase())
    }
}

fn url_name(name: &str) -> String {
    let safe = percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC);
    safe.to_string()
}
