//! The work of one occurrence, and what is written down of its end.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use loom_capabilities::{TurnOrder, TurnState, TurnView};
use loom_domain::schedule::{Occurrence, Outcome, Schedule, Task, Work};
use loom_domain::{Code, Error, Principal, Result, TurnId};
use loom_store::ops::schedules::Ended;
use serde_json::Value;

use super::report;
use crate::{capability::Asked, hub::Hub};

/// Why work that was begun has no end.
const INTERRUPTED: &str = "interrupted";
/// Wait before the end of an occurrence is written again.
const AGAIN: Duration = Duration::from_secs(5);
/// Longest wait for a Turn in one step; it has a deadline of its own.
const TURN_WAIT: Duration = Duration::from_secs(3_600);

/// In which life of the work it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// It was taken just now.
    First,
    /// It was begun before, and its end is not known.
    Later,
}

/// Does the work and writes down how it ended. What a stop of the hub cuts off is left to the next start.
pub(super) async fn run(hub: Hub, occurrence: Occurrence, life: Life) {
    let _ = loom_store::fail::point("schedule.taken");
    let done = AssertUnwindSafe(done(&hub, &occurrence, life)).catch_unwind().await;
    let done = done.unwrap_or_else(|_| Err(Error::internal("the work of an occurrence panicked")));
    let ended = match done {
        Ok(ended) => ended,
        Err(error) if error.code == Code::HubDraining => return,
        Err(error) => failed(error.code.as_str(), Some(error.message)),
    };
    let _ = loom_store::fail::point("schedule.before_end");
    while let Err(error) = note(&hub, &occurrence, ended.clone()).await {
        tracing::warn!("the end of {} is not stored: {error}", occurrence.key);
        tokio::time::sleep(AGAIN).await;
    }
}

async fn note(hub: &Hub, occurrence: &Occurrence, ended: Ended) -> Result<()> {
    hub.store().end_occurrence(hub.act(Principal::Hub), occurrence.key.clone(), ended).await
}

pub(super) fn failed(reason: &str, message: Option<String>) -> Ended {
    let work = Work { reason: Some(reason.to_owned()), message, ..Work::default() };
    Ended { outcome: Outcome::Failed, work }
}

async fn done(hub: &Hub, occurrence: &Occurrence, life: Life) -> Result<Ended> {
    let schedule = hub.store().schedule_named(occurrence.schedule.clone()).await?;
    // One that was removed and added again is another one.
    let Some(schedule) = schedule.filter(|schedule| schedule.seq < occurrence.seq) else {
        return Ok(failed(INTERRUPTED, Some("the schedule was removed meanwhile".to_owned())));
    };
    match &schedule.task {
        Task::Report { .. } => report::run(hub, &schedule, occurrence).await,
        // The journal of a Turn is a file of the node that began it.
        Task::Turn { .. } if life == Life::Later && hub.store().config().node != occurrence.node => {
            Ok(failed(INTERRUPTED, Some("the hub that began it is gone".to_owned())))
        }
        Task::Turn { config } => Box::pin(turn(hub, &schedule, occurrence, config)).await,
    }
}

/// The key of the Turn of an occurrence: the same one is found again, and never a second one begun.
fn turn_key(schedule: &Schedule, occurrence: &Occurrence) -> String {
    format!("schedule:{}:{}", schedule.seq, occurrence.key)
}

async fn turn(hub: &Hub, schedule: &Schedule, occurrence: &Occurrence, config: &Value) -> Result<Ended> {
    let mut order = TurnOrder::of(config)?;
    order.turn_key = Some(turn_key(schedule, occurrence));
    let asked = Box::pin(hub.begin_turn(Principal::Owner, order, false, Duration::ZERO)).await?;
    let Asked::Turn(begun) = asked else { return Err(Error::internal("a plan is no Turn")) };
    let id: TurnId = begun.turn_id.parse()?;
    let work = Work { turn_id: Some(begun.turn_id.clone()), ..Work::default() };
    note(hub, occurrence, Ended { outcome: Outcome::Started, work: work.clone() }).await?;
    let mut view = *begun;
    while !view.state.is_final() {
        view = match view.state {
            TurnState::Starting | TurnState::Running => hub.wait_turn(&id, TURN_WAIT).await?,
            _ if is_stopped(&view) => break,
            _ => hub.resume_turn(Principal::Owner, id.clone(), TURN_WAIT).await?,
        };
    }
    Ok(ended(&view, work))
}

/// Whether somebody asked it to stop.
fn is_stopped(view: &TurnView) -> bool {
    view.error.is_some() || view.reason.is_some()
}

fn ended(view: &TurnView, work: Work) -> Ended {
    if view.state == TurnState::Completed {
        return Ended { outcome: Outcome::Done, work };
    }
    let state = serde_json::to_value(view.state).ok().and_then(|word| word.as_str().map(str::to_owned));
    let reason = view.error.as_ref().map(|error| error.code.as_str().to_owned()).or(state);
    let message = view.error.as_ref().map(|error| error.message.clone()).or_else(|| view.reason.clone());
    Ended { outcome: Outcome::Failed, work: Work { reason, message, ..work } }
}
