//! Occurrences: taken before their work begins, so that each is done at most once, and ended with what came of it.

use loom_domain::schedule::{Kind, OCCURRENCES_KEPT, Occurrence, Outcome, Schedule, Slot, Work, key};
use loom_domain::{Result, Timestamp};

use super::super::notices;
use crate::{
    Act, Store, Unit,
    docs::{self, Doc},
    params,
    tx::{Value, to_doc},
};

/// Why a time of the past is not made up for.
const MISSED: &str = "missed";
/// Why a time is left out while the work of an earlier one goes on.
const PREVIOUS_RUNNING: &str = "previous_running";
const DAY_MS: i64 = 86_400_000;

/// A time that is due, with those before it that nobody was there for.
#[derive(Debug, Clone)]
pub struct Take {
    /// Schedule.
    pub schedule: String,
    /// Its version when the time was computed.
    pub version: u64,
    /// The time.
    pub due: Slot,
    /// Earlier ones, oldest first.
    pub missed: Vec<Slot>,
}

/// What became of an occurrence.
#[derive(Debug, Clone)]
pub struct Ended {
    /// How it ended; `started` only notes what is known so far.
    pub outcome: Outcome,
    /// What its work came to.
    pub work: Work,
}

impl Doc for Occurrence {
    const TABLE: &'static str = "occurrences";
    const KIND: &'static str = "occurrence";
    fn id(&self) -> &str {
        &self.key
    }
    fn columns(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("seq", self.seq.into()),
            ("schedule", self.schedule.as_str().into()),
            ("outcome", self.outcome.as_str().into()),
            ("at", self.at.into()),
        ]
    }
}

impl Store {
    /// Takes a time, if the schedule still runs and nobody has taken it. `None` means that nothing is to be done.
    pub async fn take_occurrence(&self, act: Act, take: Take) -> Result<Option<Occurrence>> {
        self.write(act, move |unit| {
            let Some(mut schedule) = docs::get_locked::<Schedule>(unit.tx, &take.schedule)? else {
                return Ok(None);
            };
            let is_wanted = schedule.enabled && schedule.version == take.version;
            if !is_wanted || take.due.at <= schedule.seen_until {
                return Ok(None);
            }
            for slot in &take.missed {
                insert(unit, &schedule, slot, Some(MISSED))?;
            }
            let open = "SELECT COUNT(*) FROM occurrences WHERE schedule = ?1 AND outcome = 'started'";
            let is_open = unit.tx.number(open, &params![schedule.name.as_str()])? > 0;
            let taken = insert(unit, &schedule, &take.due, is_open.then_some(PREVIOUS_RUNNING))?;
            schedule.seen_until = take.due.at;
            docs::update(unit.tx, &schedule)?;
            prune(unit, &schedule.name)?;
            Ok(taken.filter(|occurrence| occurrence.outcome == Outcome::Started))
        })
        .await
    }

    /// Notes what came of an occurrence. One that has ended stays as it is.
    pub async fn end_occurrence(&self, act: Act, key: String, ended: Ended) -> Result<()> {
        self.write(act, move |unit| {
            let mut occurrence: Occurrence = docs::require_locked(unit.tx, &key)?;
            if occurrence.outcome != Outcome::Started {
                return Ok(());
            }
            occurrence.outcome = ended.outcome;
            occurrence.work = ended.work.clone();
            occurrence.at = unit.now;
            docs::update(unit.tx, &occurrence)?;
            match ended.outcome {
                Outcome::Failed => failed(unit, &occurrence),
                _ => Ok(()),
            }
        })
        .await
    }

    /// Occurrences that were taken and have not ended.
    pub async fn started_occurrences(&self) -> Result<Vec<Occurrence>> {
        self.read(|tx| docs::select(tx, "outcome = 'started' ORDER BY seq LIMIT 1000", &[])).await
    }

    /// The newest occurrences of a schedule since its creation.
    pub async fn occurrences(&self, schedule: &Schedule, most: usize) -> Result<Vec<Occurrence>> {
        let (name, since) = (schedule.name.clone(), schedule.seq);
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.read(move |tx| {
            let newest = "schedule = ?1 AND seq > ?2 ORDER BY seq DESC LIMIT ?3";
            docs::select(tx, newest, &params![name.as_str(), since, most])
        })
        .await
    }

    /// Removes what ended that many days ago.
    pub async fn prune_occurrences(&self, act: Act, days: u32) -> Result<u64> {
        self.write(act, move |unit| {
            let before: Timestamp = unit.now.plus_ms(-i64::from(days.max(1)).saturating_mul(DAY_MS));
            let old = "DELETE FROM occurrences WHERE at < ?1 AND outcome <> 'started'";
            unit.tx.execute(old, &params![before])
        })
        .await
    }
}

/// Writes a row unless its key has one.
fn insert(
    unit: &mut Unit<'_>,
    schedule: &Schedule,
    slot: &Slot,
    skipped: Option<&str>,
) -> Result<Option<Occurrence>> {
    let occurrence = Occurrence {
        key: key(&schedule.name, &slot.local, &schedule.tz),
        seq: unit.seq()?,
        schedule: schedule.name.clone(),
        kind: schedule.kind(),
        local: slot.local.clone(),
        tz: schedule.tz.clone(),
        due_at: slot.at,
        outcome: if skipped.is_some() { Outcome::Skipped } else { Outcome::Started },
        work: Work { reason: skipped.map(str::to_owned), ..Work::default() },
        node: unit.node.to_owned(),
        at: unit.now,
    };
    let sql = "INSERT INTO occurrences (id, seq, schedule, outcome, at, doc) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
               ON CONFLICT (id) DO NOTHING";
    let values = params![
        occurrence.key.as_str(),
        occurrence.seq,
        occurrence.schedule.as_str(),
        occurrence.outcome.as_str(),
        occurrence.at,
        to_doc(&occurrence)?
    ];
    let is_new = unit.tx.execute(sql, &values)? > 0;
    Ok(is_new.then_some(occurrence))
}

/// Keeps the newest of a schedule.
fn prune(unit: &mut Unit<'_>, name: &str) -> Result<()> {
    let edge = "SELECT seq FROM occurrences WHERE schedule = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2";
    let edge = unit.tx.number(edge, &params![name, OCCURRENCES_KEPT])?;
    let old = "DELETE FROM occurrences WHERE schedule = ?1 AND seq <= ?2 AND outcome <> 'started'";
    unit.tx.execute(old, &params![name, edge])?;
    Ok(())
}

/// Tells the owner that the work of an occurrence failed.
fn failed(unit: &mut Unit<'_>, occurrence: &Occurrence) -> Result<()> {
    let Occurrence { schedule, local, work, .. } = occurrence;
    let why = work.message.as_deref().or(work.reason.as_deref()).unwrap_or("no reason is known");
    let told = notices::Tell {
        kind: "schedule_failed",
        object: schedule,
        text: format!("the schedule {schedule} failed at {local}: {why}"),
        hint: match occurrence.kind {
            Kind::Turn => format!("loom turn schedule show {schedule}"),
            Kind::Report => format!("loom periodic-report schedule show {schedule}"),
        },
    };
    notices::tell(unit, told)
}
