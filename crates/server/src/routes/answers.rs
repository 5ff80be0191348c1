//! Answers that change nothing: paths, decisions, the hub at a glance.

use axum::extract::State;
use axum::routing::MethodFilter;
use loom_api::{query, request, routes as at, view};

use super::{Answer, Routes, json};
use crate::extract::{Doc, Params};
use crate::{AnyReader, App, Owner, Scope};

pub(super) fn add(routes: Routes) -> Routes {
    routes
        .get(at::WHERE, Scope::StatusRead, where_is)
        .change(MethodFilter::POST, at::POLICY_EXPLAIN, Scope::StatusRead, explain)
        .change(MethodFilter::POST, at::POLICY_REPLAY, Scope::Whole, replay)
        .get(at::STATUS, Scope::StatusRead, status)
}

async fn where_is(
    who: AnyReader,
    State(app): State<App>,
    Params(query): Params<query::Where>,
) -> Answer<view::Where> {
    json(app.desk().where_is(who.0, query).await)
}

async fn explain(
    who: AnyReader,
    State(app): State<App>,
    Doc(question): Doc<request::PolicyExplain>,
) -> Answer<view::PolicyExplanation> {
    json(app.desk().explain_policy(who.0, question).await)
}

async fn replay(
    who: Owner,
    State(app): State<App>,
    Doc(question): Doc<request::PolicyReplay>,
) -> Answer<view::PolicyReplayResult> {
    json(app.desk().replay_policy(who.0, question).await)
}

async fn status(who: AnyReader, State(app): State<App>) -> Answer<view::HubStatus> {
    json(app.desk().status(who.0).await)
}
