//! Schedules of reports and Turns.

use axum::extract::State;
use axum::response::Response;
use axum::routing::MethodFilter;
use loom_api::{Mutation, Page, request, routes as at, view};
use loom_domain::schedule::{Kind, Schedule};
use loom_domain::{Code, Error};

use super::{Answer, Routes, created, json};
use crate::extract::{Change, Doc, Name, SecondName};
use crate::{App, Owner, OwnerOrViewer, Problem, Scope};

pub(super) fn add(routes: Routes) -> Routes {
    routes
        .get(at::SCHEDULES, Scope::StatusRead, list)
        .change(MethodFilter::POST, at::SCHEDULES, Scope::Whole, make)
        .get(at::SCHEDULE, Scope::StatusRead, show)
        .change(MethodFilter::DELETE, at::SCHEDULE, Scope::Whole, remove)
        .change(MethodFilter::POST, at::SCHEDULE_ENABLE, Scope::Whole, enable)
        .change(MethodFilter::POST, at::SCHEDULE_DISABLE, Scope::Whole, disable)
}

fn kind(word: &str) -> Result<Kind, Error> {
    word.parse().map_err(|_| Error::new(Code::NotFound, "schedules are those of report or turn"))
}

async fn list(
    who: OwnerOrViewer,
    State(app): State<App>,
    Name(word): Name,
) -> Answer<Page<view::ScheduleEntry>> {
    json(app.desk().schedules(who.0, kind(&word)?).await)
}

async fn make(
    who: Owner,
    State(app): State<App>,
    Name(word): Name,
    change: Change,
    Doc(request): Doc<request::AddSchedule>,
) -> Result<Response, Problem> {
    created(app.desk().add_schedule(change.intent(who.0), kind(&word)?, request).await)
}

async fn show(
    who: OwnerOrViewer,
    State(app): State<App>,
    Name(word): Name,
    SecondName(name): SecondName,
) -> Answer<view::ScheduleEntry> {
    json(app.desk().schedule(who.0, kind(&word)?, name).await)
}

async fn remove(
    who: Owner,
    State(app): State<App>,
    Name(word): Name,
    SecondName(name): SecondName,
    change: Change,
) -> Answer<Mutation<Schedule>> {
    json(app.desk().remove_schedule(change.intent(who.0), kind(&word)?, name).await)
}

async fn enable(
    who: Owner,
    State(app): State<App>,
    Name(word): Name,
    SecondName(name): SecondName,
    change: Change,
) -> Answer<Mutation<Schedule>> {
    json(app.desk().switch_schedule(change.intent(who.0), kind(&word)?, name, true).await)
}

async fn disable(
    who: Owner,
    State(app): State<App>,
    Name(word): Name,
    SecondName(name): SecondName,
    change: Change,
) -> Answer<Mutation<Schedule>> {
    json(app.desk().switch_schedule(change.intent(who.0), kind(&word)?, name, false).await)
}
