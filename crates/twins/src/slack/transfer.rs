//! Bytes of files: the upload address and the private download address.

use std::sync::Arc;

use bytes::Bytes;
use http::header;

use super::answer::{Answer, Outcome};
use super::http::Call;
use super::shared::Shared;
use super::world::{TokenKind, World};
use super::{faulty, multipart};

const LOGIN_PAGE: &str = "<!DOCTYPE html><html><head><title>Sign in | Slack</title></head>\
    <body>You need to sign in to see this page.</body></html>";

/// `POST /upload/v1/<secret>`: raw bytes or a multipart part; no authentication.
pub(super) async fn upload(shared: &Arc<Shared>, call: &Call) -> Outcome {
    faulty::run(shared, "upload", call, |world| receive(world, call)).await
}

fn receive(world: &mut World, call: &Call) -> Answer {
    let secret = call.path.rsplit('/').next().unwrap_or_default();
    let bytes = content(call);
    let file = world.files.values_mut().find(|f| !f.completed && f.upload_secret == secret);
    let Some(file) = file else { return Answer::text(404, "no such upload") };
    if bytes.len() != file.declared_bytes {
        return Answer::text(400, "length differs from the declared one");
    }
    let size = bytes.len();
    file.bytes = bytes;
    file.received = true;
    Answer::text(200, &format!("OK - {size}"))
}

fn content(call: &Call) -> Bytes {
    let content_type = call.header(header::CONTENT_TYPE);
    if !content_type.starts_with("multipart/form-data") {
        return call.body.clone();
    }
    let part = multipart::parts(content_type, &call.body).into_iter().next();
    part.map(|p| Bytes::copy_from_slice(p.bytes)).unwrap_or_default()
}

/// `GET /files-pri/…`: the bytes with a good token, the login page without.
pub(super) async fn download(shared: &Arc<Shared>, call: &Call) -> Outcome {
    faulty::run(shared, "download", call, |world| send(world, call)).await
}

fn send(world: &World, call: &Call) -> Answer {
    let token = call.bearer().and_then(|t| world.tokens.get(t)).filter(|t| t.kind == TokenKind::Bot);
    let allowed = token.is_some_and(|t| t.refused.is_none() && t.scopes.contains("files:read"));
    if !allowed || world.knobs.file_login_page {
        return Answer::html(200, LOGIN_PAGE);
    }
    let path = call.path.replacen("/download/", "/", 1);
    let id = path.split('/').nth(2).and_then(|s| s.rsplit_once('-')).map_or("", |(_, id)| id);
    match world.files.get(id).filter(|f| f.completed && f.mode == "hosted") {
        Some(file) => Answer {
            status: 200,
            content_type: file.content_type().into(),
            headers: Vec::new(),
            body: file.bytes.clone(),
        },
        None => Answer::text(404, "file not found"),
    }
}
