//! Changes of owner-set records: version check, no-op rule, change event, audit row and dry run in one place.

use std::sync::{Arc, Mutex};

use loom_api::Mutation;
use loom_domain::{Address, Agent, Code, Connection, Error, Membership, Result, Timestamp};
use serde_json::{Map, Value as Json, json};

use crate::{
    Act, Audit, Store, Topic, Unit,
    docs::{self, Doc},
};

/// A record that its owner changes.
pub(crate) trait Versioned: Doc + Clone {
    /// Present version.
    fn version(&self) -> u64;
    /// Sets version and time of a change.
    fn stamp(&mut self, version: u64, at: Timestamp);
}

macro_rules! versioned {
    ($($name:ident)*) => { $(
        impl Versioned for $name {
            fn version(&self) -> u64 { self.version }
            fn stamp(&mut self, version: u64, at: Timestamp) {
                self.version = version;
                self.updated_at = at;
            }
        }
    )* };
}
versioned! { Agent Connection Address Membership }

/// How a change is recorded.
pub(crate) struct Edit<'a> {
    /// Change event, such as `address.changed`.
    pub(crate) event: &'static str,
    /// Audit action, such as `address.update`.
    pub(crate) action: &'static str,
    /// Agent that the record belongs to.
    pub(crate) agent: Option<&'a str>,
    /// Version the caller's change is based on.
    pub(crate) expected: Option<u64>,
    /// Sentences to record beside the field names.
    pub(crate) notes: &'a [String],
}

/// Writes a changed record. Gives the names of the changed fields; none means that nothing was written.
pub(crate) fn commit<D: Versioned>(
    unit: &mut Unit<'_>,
    before: &D,
    after: &mut D,
    edit: &Edit<'_>,
) -> Result<Vec<String>> {
    let diff = diff(before, after)?;
    check_version(before, edit.expected, &diff)?;
    let changed: Vec<String> = diff.into_iter().map(|field| field.name).collect();
    if changed.is_empty() {
        return Ok(changed);
    }
    let version = before.version() + 1;
    after.stamp(version, unit.now);
    docs::update(unit.tx, after)?;
    record(unit, after.id(), (Some(version - 1), version), &changed, edit)?;
    Ok(changed)
}

/// Stores a new record with its change event and audit row.
pub(crate) fn create<D: Versioned>(unit: &mut Unit<'_>, record_: &D, edit: &Edit<'_>) -> Result<()> {
    docs::insert(unit.tx, record_)?;
    record(unit, record_.id(), (None, record_.version()), &[], edit)
}

fn record(
    unit: &mut Unit<'_>,
    id: &str,
    (before, after): (Option<u64>, u64),
    changed: &[String],
    edit: &Edit<'_>,
) -> Result<()> {
    let names: Vec<&str> = changed.iter().map(String::as_str).collect();
    unit.change(edit.event, id, edit.agent, after, &names)?;
    unit.audit(&Audit {
        action: edit.action,
        object: id,
        versions: (before, Some(after)),
        outcome: "ok",
        detail: json!({"changed": changed, "notes": edit.notes}),
    })?;
    unit.wake(Topic::Config);
    Ok(())
}

struct Field {
    name: String,
    before: Json,
    after: Json,
}

fn fields<D: Versioned>(record: &D) -> Result<Map<String, Json>> {
    let Json::Object(mut map) = serde_json::to_value(record).map_err(Error::internal)? else {
        return Err(Error::internal("a record is no object"));
    };
    if let Some(Json::Object(runtime)) = map.remove("runtime") {
        map.extend(runtime);
    }
    for hidden in ["version", "updatedAt", "seq"] {
        map.remove(hidden);
    }
    Ok(map)
}

fn diff<D: Versioned>(before: &D, after: &D) -> Result<Vec<Field>> {
    let (mut old, new) = (fields(before)?, fields(after)?);
    let mut diff = Vec::new();
    for (name, after) in new {
        let before = old.remove(&name).unwrap_or(Json::Null);
        if before != after {
            diff.push(Field { name, before, after });
        }
    }
    Ok(diff)
}

fn check_version<D: Versioned>(current: &D, expected: Option<u64>, diff: &[Field]) -> Result<()> {
    match expected {
        Some(expected) if expected != current.version() => {
            let rows: Vec<Json> = diff
                .iter()
                .map(|f| json!({"field": f.name, "yours": f.after, "current": f.before}))
                .collect();
            Err(conflict(current)?.with_detail("diff", rows))
        }
        _ => Ok(()),
    }
}

/// A `version_conflict` that shows the record as it is.
pub(crate) fn conflict<D: Versioned>(current: &D) -> Result<Error> {
    let message = format!("{} {} is at version {}", D::KIND, current.id(), current.version());
    Ok(Error::new(Code::VersionConflict, message)
        .with_detail("current", serde_json::to_value(current).map_err(Error::internal)?)
        .with_detail("current_version", current.version()))
}

/// An error for a change that names no field.
pub(crate) fn nothing() -> Error {
    Error::new(Code::NothingToChange, "no field was given")
}

/// Refuses names that `clear` does not take.
pub(crate) fn check_clear(clear: &[String], allowed: &[&str]) -> Result<()> {
    match clear.iter().find(|name| !allowed.contains(&name.as_str())) {
        Some(name) => Err(Error::invalid(
            "clear",
            format!("`{name}` cannot be emptied; use one of {}", allowed.join(", ")),
        )),
        None => Ok(()),
    }
}

/// Finishes the answer of a change.
pub(crate) fn changed<T>(object: T, changed: Vec<String>, warnings: Vec<String>) -> Mutation<T> {
    Mutation { warnings, ..Mutation::changed(object, changed) }
}

impl Store {
    /// Runs a change of the owner. A dry run gives the same answer and leaves nothing behind.
    pub(crate) async fn mutate<T, F>(&self, act: Act, dry_run: bool, mut op: F) -> Result<Mutation<T>>
    where
        T: Clone + Send + 'static,
        F: FnMut(&mut Unit<'_>) -> Result<Mutation<T>> + Send + 'static,
    {
        let owned = move |unit: &mut Unit<'_>| {
            unit.principal.require_owner()?;
            op(unit)
        };
        let answer = self.write_unless(dry_run, act, owned).await?;
        Ok(Mutation { dry_run: dry_run || answer.dry_run, ..answer })
    }

    /// Writes; a dry run gives the same answer, or the same refusal, and leaves nothing behind.
    pub(crate) async fn write_unless<T, F>(&self, dry_run: bool, act: Act, mut op: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Unit<'_>) -> Result<T> + Send + 'static,
    {
        if !dry_run {
            return self.write(act, op).await;
        }
        let plan: Arc<Mutex<Option<T>>> = Arc::default();
        let slot = plan.clone();
        let probe = self.write(act, move |unit| {
            let planned = op(unit)?;
            if let Ok(mut slot) = slot.lock() {
                *slot = Some(planned);
            }
            Err::<(), _>(nothing())
        });
        let outcome = probe.await;
        let planned = plan.lock().ok().and_then(|mut slot| slot.take());
        match (planned, outcome) {
            (Some(planned), _) => Ok(planned),
            (None, Err(error)) => Err(error),
            (None, Ok(())) => Err(Error::internal("a dry run gave no plan")),
        }
    }
}
