//! Schedules: one task of one hub takes each time as it is due, once, and does what the schedule says.

mod calendar;
mod entries;
mod report;
mod work;

use std::time::Duration;

use loom_domain::schedule::{MISSED_MAX, Occurrence, Schedule};
use loom_domain::{Code, Principal, Result, Timestamp};
use loom_store::Topic;
use loom_store::ops::schedules::Take;
use tokio::task::JoinSet;

use crate::{hub::Hub, lease};
use calendar::Calendar;

/// The lease of the node whose hub runs schedules.
const LEASE: &str = "scheduler";
/// Occurrences at work at once.
const FLIGHTS_MAX: usize = 8;
/// Shortest and longest sleep between two looks; the wall clock may be set in between.
const SLEEP_MIN: Duration = Duration::from_millis(20);
const SLEEP_MAX: Duration = Duration::from_secs(30);

/// Runs schedules until the hub stops. While there is none, no lease is held.
pub(crate) async fn run(hub: Hub) {
    let mut wakes = hub.store().watch(Topic::Config);
    loop {
        wakes.borrow_and_update();
        if has_work(&hub).await {
            leading(&hub).await;
        }
        tokio::select! {
            () = hub.inner.stop.cancelled() => return,
            () = tokio::time::sleep(SLEEP_MAX) => {}
            changed = wakes.changed() => if changed.is_err() { return },
        }
    }
}

async fn has_work(hub: &Hub) -> bool {
    if hub.inner.drain.is_cancelled() {
        return false;
    }
    let found = async {
        let is_any = !hub.store().enabled_schedules().await?.is_empty();
        Ok::<_, loom_domain::Error>(is_any || !hub.store().started_occurrences().await?.is_empty())
    };
    found.await.unwrap_or_else(|error| {
        tracing::warn!("schedules cannot be read: {error}");
        false
    })
}

/// Leads while there is work and the lease is held.
async fn leading(hub: &Hub) {
    let ttl_ms = hub.config().lease.agent_ttl_ms;
    let taken = hub.store().lease(hub.act(Principal::Hub), LEASE.to_owned(), ttl_ms, None).await;
    let fence = match taken {
        Ok(lease) => lease.fence,
        Err(error) => {
            if error.code != Code::Locked {
                tracing::warn!("the lease of the scheduler cannot be taken: {error}");
            }
            return;
        }
    };
    tokio::select! {
        () = hub.inner.stop.cancelled() => {}
        () = lead(hub) => {}
        () = lease::keep(hub, LEASE, fence, ttl_ms) => tracing::warn!("the lease of the scheduler was lost"),
    }
    let _ = hub.store().release_lease(hub.act(Principal::Hub), LEASE.to_owned(), fence).await;
}

async fn lead(hub: &Hub) {
    let mut wakes = hub.store().watch(Topic::Config);
    let mut flights = JoinSet::new();
    // Whoever took these is gone, or was this hub in an earlier life.
    for occurrence in hub.store().started_occurrences().await.unwrap_or_default() {
        flights.spawn(work::run(hub.clone(), occurrence, work::Life::Later));
    }
    loop {
        wakes.borrow_and_update();
        let sleep = match look(hub, &mut flights).await {
            Ok(None) if flights.is_empty() => return,
            Ok(next) => next.map_or(SLEEP_MAX, |at| until(at, hub.now())),
            Err(error) => {
                tracing::warn!("what is due cannot be taken: {error}");
                SLEEP_MAX
            }
        };
        tokio::select! {
            _ = flights.join_next(), if !flights.is_empty() => {}
            () = tokio::time::sleep(sleep) => {}
            changed = wakes.changed() => if changed.is_err() { return },
        }
    }
}

/// Takes what is due. Gives the next time that will be, or `None` when no schedule runs.
async fn look(hub: &Hub, flights: &mut JoinSet<()>) -> Result<Option<Timestamp>> {
    let (now, mut next) = (hub.now(), None::<Timestamp>);
    for schedule in hub.store().enabled_schedules().await? {
        let Ok(calendar) = Calendar::parse(&schedule.cron, &schedule.tz) else { continue };
        if flights.len() < FLIGHTS_MAX
            && !hub.inner.drain.is_cancelled()
            && let Some(occurrence) = take(hub, &schedule, &calendar, now).await?
        {
            flights.spawn(work::run(hub.clone(), occurrence, work::Life::First));
        }
        let coming = calendar.after(now).map_or(now.plus_ms(i64::from(u32::MAX)), |slot| slot.at);
        next = Some(next.map_or(coming, |next| next.min(coming)));
    }
    Ok(next)
}

async fn take(
    hub: &Hub,
    schedule: &Schedule,
    calendar: &Calendar,
    now: Timestamp,
) -> Result<Option<Occurrence>> {
    let mut missed = calendar.between(schedule.seen_until, now, MISSED_MAX + 1);
    let Some(due) = missed.pop() else { return Ok(None) };
    let take = Take { schedule: schedule.name.clone(), version: schedule.version, due, missed };
    hub.store().take_occurrence(hub.act(Principal::Hub), take).await
}

fn until(at: Timestamp, now: Timestamp) -> Duration {
    Duration::from_millis(u64::try_from(at.since_ms(now)).unwrap_or(0)).clamp(SLEEP_MIN, SLEEP_MAX)
}
