//! The work of a report: the document of the window as it was when the occurrence was due, and its deliveries.

use std::time::Duration;

use loom_api::request;
use loom_domain::outbox::State;
use loom_domain::schedule::{Delivery, Occurrence, Outcome, Schedule, Task, Work};
use loom_domain::{Code, Principal, Result};
use loom_store::ops::schedules::Ended;

use crate::hub::Hub;

/// Longest wait for each delivery; a longer one goes on without being watched.
const DELIVERY_WAIT: Duration = Duration::from_secs(60);

/// Makes the report, or finds it, and delivers it to each Membership that has not got it.
pub(super) async fn run(hub: &Hub, schedule: &Schedule, occurrence: &Occurrence) -> Result<Ended> {
    let asked = request::Report { preview: false, ..asked(schedule) };
    let make = request::Report { to: Vec::new(), ..asked.clone() };
    let made = hub.report_as_of(occurrence.due_at, Principal::Owner, make, Duration::ZERO).await?;
    let mut work = Work { report_id: Some(made.report.report_id), ..Work::default() };
    for membership in &asked.to {
        let one = request::Report { to: vec![membership.clone()], ..asked.clone() };
        match hub.report_as_of(occurrence.due_at, Principal::Owner, one, DELIVERY_WAIT).await {
            Ok(sent) => sent.deliveries.into_iter().for_each(|sent| {
                let delivery = Delivery {
                    membership_id: sent.membership_id,
                    outbox_id: sent.outbox_id,
                    state: sent.state,
                };
                work.deliveries.push(delivery);
            }),
            Err(error) if error.code == Code::HubDraining => return Err(error),
            Err(error) => refused(&mut work, error.code, format!("{membership}: {}", error.message)),
        }
    }
    let lost =
        |delivery: &&Delivery| matches!(delivery.state, State::Failed | State::Expired | State::Cancelled);
    if let Some(lost) = work.deliveries.iter().find(lost).cloned() {
        refused(
            &mut work,
            Code::DeliveryFailed,
            format!("{}: {} is {}", lost.membership_id, lost.outbox_id, lost.state),
        );
    }
    let outcome = if work.reason.is_some() { Outcome::Failed } else { Outcome::Done };
    Ok(Ended { outcome, work })
}

/// Notes the first Membership that did not get it.
fn refused(work: &mut Work, code: Code, message: String) {
    if work.reason.is_none() {
        work.reason = Some(code.as_str().to_owned());
        work.message = Some(message);
    }
}

/// The report that a schedule asks for.
pub(super) fn asked(schedule: &Schedule) -> request::Report {
    let Task::Report { profile, window, lang, formats, to } = &schedule.task else {
        return request::Report::default();
    };
    request::Report {
        profile: Some(profile.clone()),
        window: Some(window.clone()),
        tz: Some(schedule.tz.clone()),
        lang: Some(lang.clone()),
        forms: Some(formats.join(",")),
        to: to.iter().map(ToString::to_string).collect(),
        preview: false,
    }
}
