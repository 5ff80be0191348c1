//! Schedules as the owner orders and reads them.

use loom_api::{Mutation, Page, request, view};
use loom_capabilities::TurnOrder;
use loom_domain::schedule::{Kind, Schedule, TO_MAX, Task};
use loom_domain::{Code, Error, Membership, MembershipId, OutboundPolicy, Principal, Result};
use loom_report::{Form, Profile};
use serde_json::Value;

use super::calendar::Calendar;
use super::report;
use crate::{hub::Hub, reports::order_of};

/// Times and occurrences that are shown of one schedule.
const NEXT_SHOWN: usize = 3;
const OCCURRENCES_SHOWN: usize = 20;
/// Profile of a schedule that names none.
const PROFILE: &str = "weekly";

impl Hub {
    /// Adds a schedule, once all that it names is there.
    pub async fn add_schedule(
        &self,
        who: Principal,
        kind: Kind,
        asked: request::AddSchedule,
        dry_run: bool,
    ) -> Result<Mutation<Schedule>> {
        who.require_owner()?;
        let calendar = Calendar::parse(&asked.cron, &asked.tz)?;
        let Some(first) = calendar.after(self.now()) else {
            return Err(Error::invalid("cron", "no such time comes within four years"));
        };
        let mut warnings = Vec::new();
        let task = match kind {
            Kind::Report => self.report_task(&asked, &mut warnings).await?,
            Kind::Turn => Box::pin(self.turn_task(&who, &asked)).await?,
        };
        let now = self.now();
        let schedule = Schedule {
            name: asked.name,
            seq: 0,
            cron: asked.cron.split_ascii_whitespace().collect::<Vec<_>>().join(" "),
            tz: calendar.zone().unwrap_or(&asked.tz).to_owned(),
            enabled: asked.enabled,
            task,
            seen_until: now,
            created_at: now,
            updated_at: now,
            version: 1,
        };
        if kind == Kind::Report {
            order_of(&report::asked(&schedule), &self.config().report, first.at)?;
        }
        self.store().add_schedule(self.act(who), schedule, warnings, dry_run).await
    }

    /// A schedule with its next times and newest occurrences.
    pub async fn schedule_entry(&self, kind: Kind, name: String) -> Result<view::ScheduleEntry> {
        let schedule = self.store().schedule(kind, name).await?;
        self.entry(schedule, NEXT_SHOWN, OCCURRENCES_SHOWN).await
    }

    /// Every schedule of a kind, each with its next time and newest occurrence.
    pub async fn schedule_entries(&self, kind: Kind) -> Result<Page<view::ScheduleEntry>> {
        let mut items = Vec::new();
        for schedule in self.store().schedules(kind).await? {
            items.push(self.entry(schedule, 1, 1).await?);
        }
        Ok(Page { items, next_cursor: None })
    }

    async fn entry(&self, schedule: Schedule, next: usize, newest: usize) -> Result<view::ScheduleEntry> {
        let occurrences = self.store().occurrences(&schedule, newest).await?;
        let calendar = Calendar::parse(&schedule.cron, &schedule.tz);
        let next = calendar.map(|calendar| calendar.next(self.now(), next)).unwrap_or_default();
        Ok(view::ScheduleEntry { schedule, next, occurrences })
    }

    async fn report_task(&self, asked: &request::AddSchedule, warnings: &mut Vec<String>) -> Result<Task> {
        if asked.config.is_some() {
            return Err(Error::invalid("config", "it belongs to the schedule of a Turn"));
        }
        let name = asked.profile.clone().unwrap_or_else(|| PROFILE.to_owned());
        let profile = Profile::named(&name, &self.config().report.profiles)?;
        let window = asked.window.clone().unwrap_or(profile.window);
        if window.contains("..") {
            let why = "a fixed window would give the same report each time";
            return Err(
                Error::invalid("window", why).with_hint("use a moving one, such as yesterday or last-week")
            );
        }
        let formats = match asked.formats.as_slice() {
            [] => vec![Form::Markdown, Form::Html],
            names => Form::parse_list(&names.join(","))?,
        };
        if asked.to.len() > TO_MAX {
            return Err(Error::new(Code::TooMany, format!("at most {TO_MAX} Memberships")));
        }
        let mut to: Vec<MembershipId> = Vec::new();
        for id in &asked.to {
            let membership = self.store().membership(id.parse()?).await?;
            warnings.extend(refusal(&membership)?);
            if !to.contains(&membership.id) {
                to.push(membership.id);
            }
        }
        let formats = formats.iter().map(|form| form.as_str().to_owned()).collect();
        let lang = asked.lang.clone().unwrap_or_else(|| "en".to_owned());
        Ok(Task::Report { profile: name, window, lang, formats, to })
    }

    async fn turn_task(&self, who: &Principal, asked: &request::AddSchedule) -> Result<Task> {
        let is_report = asked.profile.is_some() || asked.window.is_some() || asked.lang.is_some();
        if is_report || !asked.to.is_empty() || !asked.formats.is_empty() {
            return Err(Error::invalid("config", "profile, window, lang, to and formats belong to reports"));
        }
        let Some(config) = &asked.config else {
            return Err(Error::new(Code::MissingField, "the schedule of a Turn needs its config"));
        };
        let mut order = TurnOrder::of(config)?;
        if order.turn_key.is_some() {
            return Err(Error::new(Code::InvalidInput, "each occurrence has a turn_key of its own")
                .with_detail("pointer", "/turn_key"));
        }
        // The plan puts the Agent's id in the place of its name, which may change.
        self.plan_turn(who, &mut order).await?.require_reads()?;
        let config: Value = serde_json::to_value(&order).map_err(Error::internal)?;
        Ok(Task::Turn { config })
    }
}

/// Why a Membership would not get a report as it is now; one that is gone is refused.
fn refusal(membership: &Membership) -> Result<Option<String>> {
    let id = &membership.id;
    if membership.archived_at.is_some() {
        return Err(Error::new(Code::Archived, format!("the Membership {id} is archived")));
    }
    if membership.outbound_policy != OutboundPolicy::Proactive {
        let set = "set `--outbound-policy proactive` with `loom conversation set`";
        return Ok(Some(format!("{id} takes no report as it is: {set}")));
    }
    let off = format!("{id} takes no report as it is: enable it with `loom conversation enable {id}`");
    Ok((!membership.enabled).then_some(off))
}
