//! Schedules: added, switched and removed by the owner, and each of their times taken once.

mod occurrences;

use loom_api::Mutation;
use loom_domain::schedule::{Kind, SCHEDULES_MAX, Schedule};
use loom_domain::webhook::check_name;
use loom_domain::{Code, Error, Result};
use serde_json::json;

use crate::{
    Act, Audit, Store, Topic, Unit,
    docs::{self, Doc},
    params,
    tx::Value,
};

pub use occurrences::{Ended, Take};

impl Doc for Schedule {
    const TABLE: &'static str = "schedules";
    const KIND: &'static str = "schedule";
    fn id(&self) -> &str {
        &self.name
    }
    fn columns(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("seq", self.seq.into()),
            ("kind", self.kind().as_str().into()),
            ("enabled", self.enabled.into()),
        ]
    }
}

impl Store {
    /// Adds a schedule. Its order, times and version are set here.
    pub async fn add_schedule(
        &self,
        act: Act,
        schedule: Schedule,
        warnings: Vec<String>,
        dry_run: bool,
    ) -> Result<Mutation<Schedule>> {
        check_name(&schedule.name)?;
        self.mutate(act, dry_run, move |unit| {
            let schedule = added(unit, &schedule)?;
            Ok(Mutation { warnings: warnings.clone(), ..Mutation::created(schedule) })
        })
        .await
    }

    /// Switches a schedule. What was due while it was off does not count.
    pub async fn switch_schedule(
        &self,
        act: Act,
        (kind, name): (Kind, String),
        enabled: bool,
        dry_run: bool,
    ) -> Result<Mutation<Schedule>> {
        self.mutate(act, dry_run, move |unit| {
            let mut schedule = of_kind(docs::get_locked(unit.tx, &name)?, kind, &name)?;
            if schedule.enabled == enabled {
                return Ok(Mutation::changed(schedule, Vec::new()));
            }
            schedule.enabled = enabled;
            schedule.seen_until = unit.now;
            schedule.updated_at = unit.now;
            schedule.version += 1;
            docs::update(unit.tx, &schedule)?;
            tell(unit, &schedule, "schedule.switched", Some(schedule.version - 1))?;
            Ok(Mutation::changed(schedule, vec!["enabled".to_owned()]))
        })
        .await
    }

    /// Removes a schedule. What became of its times is kept.
    pub async fn remove_schedule(
        &self,
        act: Act,
        (kind, name): (Kind, String),
        dry_run: bool,
    ) -> Result<Mutation<Schedule>> {
        self.mutate(act, dry_run, move |unit| {
            let schedule = of_kind(docs::get_locked(unit.tx, &name)?, kind, &name)?;
            unit.tx.execute("DELETE FROM schedules WHERE id = ?1", &params![name.as_str()])?;
            tell(unit, &schedule, "schedule.removed", Some(schedule.version))?;
            Ok(Mutation::changed(schedule, vec!["removed".to_owned()]))
        })
        .await
    }

    /// One schedule of a kind.
    pub async fn schedule(&self, kind: Kind, name: String) -> Result<Schedule> {
        self.read(move |tx| of_kind(docs::get(tx, &name)?, kind, &name)).await
    }

    /// The schedule of a name, of whatever kind.
    pub async fn schedule_named(&self, name: String) -> Result<Option<Schedule>> {
        self.read(move |tx| docs::get(tx, &name)).await
    }

    /// Every schedule of a kind, by name.
    pub async fn schedules(&self, kind: Kind) -> Result<Vec<Schedule>> {
        self.read(move |tx| docs::select(tx, "kind = ?1 ORDER BY id", &params![kind.as_str()])).await
    }

    /// Every schedule that runs.
    pub async fn enabled_schedules(&self) -> Result<Vec<Schedule>> {
        self.read(|tx| docs::select(tx, "enabled = 1 ORDER BY id", &[])).await
    }
}

fn of_kind(found: Option<Schedule>, kind: Kind, name: &str) -> Result<Schedule> {
    let list = match kind {
        Kind::Report => "loom periodic-report schedule list",
        Kind::Turn => "loom turn schedule list",
    };
    let missing = || Error::new(Code::NotFound, format!("no schedule {name} of {kind}s"));
    found
        .filter(|schedule| schedule.kind() == kind)
        .ok_or_else(|| missing().with_hint(format!("see `{list}`")))
}

fn added(unit: &mut Unit<'_>, wanted: &Schedule) -> Result<Schedule> {
    if let Some(known) = docs::get::<Schedule>(unit.tx, &wanted.name)? {
        let why = format!("a schedule of {}s is called {}", known.kind(), known.name);
        return Err(Error::new(Code::AlreadyExists, why).with_hint("remove it first, or choose another name"));
    }
    if unit.tx.number("SELECT COUNT(*) FROM schedules", &[])? >= SCHEDULES_MAX {
        return Err(Error::new(Code::TooMany, format!("at most {SCHEDULES_MAX} schedules")));
    }
    let schedule = Schedule {
        seq: unit.seq()?,
        seen_until: unit.now,
        created_at: unit.now,
        updated_at: unit.now,
        version: 1,
        ..wanted.clone()
    };
    docs::insert(unit.tx, &schedule)?;
    tell(unit, &schedule, "schedule.added", None)?;
    Ok(schedule)
}

fn tell(unit: &mut Unit<'_>, schedule: &Schedule, event: &'static str, before: Option<u64>) -> Result<()> {
    unit.change(event, &schedule.name, None, schedule.version, &[])?;
    unit.wake(Topic::Config);
    unit.audit(&Audit {
        action: event,
        object: &schedule.name,
        versions: (before, Some(schedule.version)),
        outcome: "ok",
        detail: json!({
            "kind": schedule.kind(), "enabled": schedule.enabled, "cron": schedule.cron, "tz": schedule.tz,
        }),
    })
}
