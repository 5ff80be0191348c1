//! Sends and their admission.

use axum::extract::State;
use axum::response::Response;
use loom_api::{request, routes as at, view};

use super::{Answer, Routes, json, outbox};
use crate::extract::{Doc, Wait};
use crate::{AgentOrOwner, App, Problem, Scope};

pub(super) fn add(routes: Routes) -> Routes {
    routes.say(at::SEND, Scope::OutboxSend, send).say(at::SEND_ADMISSION, Scope::OutboxSend, admission)
}

async fn send(
    who: AgentOrOwner,
    State(app): State<App>,
    Wait(wait): Wait,
    Doc(send): Doc<request::Send>,
) -> Result<Response, Problem> {
    outbox::sent(app.desk().send(who.0, send, wait).await)
}

async fn admission(
    who: AgentOrOwner,
    State(app): State<App>,
    Doc(send): Doc<request::Send>,
) -> Answer<view::Admission> {
    json(app.desk().admission(who.0, send).await)
}
