//! Stored files.

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use loom_api::{query, routes as at};
use loom_domain::ArtifactId;

use super::{Routes, waited};
use crate::extract::{Id, Params, Upload};
use crate::{AgentOrOwner, App, Problem, Scope};

pub(super) fn add(routes: Routes) -> Routes {
    routes.upload(at::ARTIFACTS, Scope::OutboxSend, take).get(at::ARTIFACT, Scope::InboxRead, give)
}

async fn take(
    who: AgentOrOwner,
    State(app): State<App>,
    Params(announced): Params<query::Upload>,
    mut upload: Upload,
) -> Result<Response, Problem> {
    let mut incoming = app.desk().upload(who.0, announced).await?;
    while let Some(bytes) = upload.chunk().await? {
        incoming.write(bytes).await?;
    }
    Ok(waited(StatusCode::CREATED, &incoming.finish().await?))
}

/// Gives the bytes as something no browser shows in place.
async fn give(
    who: AgentOrOwner,
    State(app): State<App>,
    Id(id): Id<ArtifactId>,
) -> Result<Response, Problem> {
    let download = app.desk().download(who.0, id).await?;
    let mut response = Response::new(Body::from_stream(download.bytes));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(download.artifact.size));
    Ok(response)
}
