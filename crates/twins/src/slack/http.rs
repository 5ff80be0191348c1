//! The listening side: one loopback port for the Web API, uploads, files, sockets and control.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response, header};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use super::answer::{Answer, Body, Cut, Outcome};
use super::files::FILE_BYTES_MAX;
use super::shared::Shared;
use super::{api, control, socket, transfer};

/// Bytes of a multipart frame around a file.
const BODY_SLACK: usize = 64 * 1024;

/// A request with its body read.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) query: String,
    pub(super) headers: http::HeaderMap,
    pub(super) body: Bytes,
}

impl Call {
    pub(super) fn header(&self, name: header::HeaderName) -> &str {
        self.headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default()
    }

    /// The token of the `Authorization` header.
    pub(super) fn bearer(&self) -> Option<&str> {
        self.header(header::AUTHORIZATION).strip_prefix("Bearer ").map(str::trim)
    }
}

/// Accepts connections until the twin stops.
pub(super) async fn serve(shared: Arc<Shared>, listener: TcpListener) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let connection = connection(Arc::clone(&shared), stream);
        shared.spawn(connection);
    }
}

async fn connection(shared: Arc<Shared>, stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { respond(shared, request).await }
    });
    let http = hyper::server::conn::http1::Builder::new();
    // An error here is a connection the client or a planned failure cut.
    let _ = http.serve_connection(TokioIo::new(stream), service).with_upgrades().await;
}

async fn respond(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Response<Body>, Cut> {
    let path = request.uri().path().to_owned();
    if !host_is_loopback(&request) {
        return Answer::text(421, "this server answers on loopback only").into_response();
    }
    if path == "/link/" || path == "/link" {
        return socket::upgrade(&shared, request).into_response();
    }
    let call = match read(request).await {
        Ok(call) => call,
        Err(answer) => return answer.into_response(),
    };
    let outcome = match path.split('/').nth(1) {
        Some("api") => api::handle(&shared, &call).await,
        Some("upload") => transfer::upload(&shared, &call).await,
        Some("files-pri") => transfer::download(&shared, &call).await,
        Some("twin") => Outcome::Answer(control::handle(&shared, &call).await),
        _ => Outcome::Answer(Answer::text(404, "not found")),
    };
    outcome.into_response()
}

/// Refuses names that a browser could be lured to (DNS rebinding).
fn host_is_loopback(request: &Request<Incoming>) -> bool {
    let host = request.headers().get(header::HOST).and_then(|h| h.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    matches!(name, "127.0.0.1" | "localhost")
}

async fn read(request: Request<Incoming>) -> Result<Call, Answer> {
    let (parts, body) = request.into_parts();
    let body = Limited::new(body, FILE_BYTES_MAX + BODY_SLACK).collect().await;
    let body = body.map_err(|_| Answer::text(413, "body too large or cut"))?.to_bytes();
    let path = parts.uri.path().to_owned();
    let query = parts.uri.query().unwrap_or_default().to_owned();
    Ok(Call { method: parts.method, path, query, headers: parts.headers, body })
}
