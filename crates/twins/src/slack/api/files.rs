//! The external upload flow and file facts.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Failure, Reply, writable_channel};
use crate::slack::files::{FILE_BYTES_MAX, FileRecord};
use crate::slack::params::Params;
use crate::slack::share::PendingShare;
use crate::slack::world::World;

/// `files.getUploadURLExternal`.
pub(super) fn upload_url(world: &mut World, params: &Params) -> Reply {
    let name = params.text("filename").ok_or("invalid_arguments")?.to_owned();
    let declared_bytes = params.number("length").filter(|n| *n > 0).ok_or("invalid_arguments")?;
    if declared_bytes > FILE_BYTES_MAX {
        return Err("file_upload_size_restricted".into());
    }
    let (id, upload_secret) = (world.ids.id("F"), world.ids.secret());
    let url = format!("{}/upload/v1/{upload_secret}", world.origin);
    let file = FileRecord {
        id: id.clone(),
        title: name.clone(),
        name,
        declared_bytes,
        bytes: Bytes::new(),
        received: false,
        completed: false,
        upload_secret,
        user: world.cfg.bot_user.clone(),
        shares: Vec::new(),
        mode: "hosted".into(),
    };
    world.files.insert(id.clone(), file);
    Ok(json!({"upload_url": url, "file_id": id}))
}

/// `files.completeUploadExternal`: shares later, answers without a message timestamp.
pub(super) fn complete(world: &mut World, params: &Params) -> Reply {
    let channel = match params.text("channel_id") {
        Some(_) => Some(writable_channel(world, params, "channel_id")?),
        None => None,
    };
    let ids = named_files(world, params)?;
    for (id, title) in &ids {
        if let Some(file) = world.files.get_mut(id) {
            file.completed = true;
            file.title = title.clone().unwrap_or_else(|| file.name.clone());
        }
    }
    let files: Vec<Value> = ids.iter().filter_map(|(id, _)| world.file_view(id)).collect();
    if let Some(channel) = channel {
        let share = PendingShare::new(
            channel,
            params.text("thread_ts").map(str::to_owned),
            params.text("initial_comment").unwrap_or_default().to_owned(),
            ids.into_iter().map(|(id, _)| id).collect(),
        );
        world.share_later(share);
    }
    Ok(json!({"files": files}))
}

fn named_files(world: &World, params: &Params) -> Result<Vec<(String, Option<String>)>, Failure> {
    let list = params.json("files").and_then(Result::ok).ok_or("invalid_arguments")?;
    let list = list.as_array().filter(|l| !l.is_empty()).ok_or("invalid_arguments")?;
    let mut out = Vec::new();
    for entry in list {
        let id = entry.get("id").and_then(Value::as_str).ok_or("invalid_arguments")?;
        world.files.get(id).filter(|f| f.received).ok_or("file_not_found")?;
        out.push((id.to_owned(), entry.get("title").and_then(Value::as_str).map(str::to_owned)));
    }
    Ok(out)
}

/// `files.info`.
pub(super) fn info(world: &World, params: &Params) -> Reply {
    let id = params.text("file").ok_or("file_not_found")?;
    let view = world.file_view(id).ok_or("file_not_found")?;
    if world.files.get(id).is_some_and(|f| f.mode == "deleted") {
        return Err("file_deleted".into());
    }
    Ok(json!({"file": view, "comments": [], "response_metadata": {"next_cursor": ""}}))
}
