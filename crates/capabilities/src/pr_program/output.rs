//! The record `loom.pr_program_record/v1`, the events of a watch, and what a program comes to.

use std::collections::BTreeMap;

use loom_domain::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::evaluate::{Assessed, Assessment, ProgramState, State};
use super::program::Program;
use super::snapshot::Delta;

/// A record, or an event of a watch about one or about the program; members that it has not are null.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(super) struct Item {
    #[schemars(length(max = 40))]
    pub(super) schema_version: &'static str,
    /// Name of the event; null for a record.
    #[schemars(length(max = 40))]
    pub(super) event: Option<&'static str>,
    #[schemars(length(max = 160))]
    pub(super) r#ref: Option<String>,
    #[schemars(length(max = 400))]
    pub(super) key: Option<String>,
    pub(super) state: Option<State>,
    #[schemars(length(max = 500), inner(length(max = 200)))]
    pub(super) reasons: Vec<String>,
    #[schemars(length(max = 5))]
    pub(super) priority: Option<String>,
    #[schemars(length(max = 500), inner(length(max = 160)))]
    pub(super) depends_on: Vec<String>,
    #[schemars(length(max = 20))]
    pub(super) checks: Option<String>,
    #[schemars(length(max = 20))]
    pub(super) review: Option<String>,
    #[schemars(length(max = 20))]
    pub(super) mergeable: Option<String>,
    /// Members that changed, of `pr_changed`.
    #[schemars(length(max = 20), inner(length(max = 20)))]
    pub(super) fields: Vec<&'static str>,
    #[schemars(length(max = 30))]
    pub(super) observed_at: String,
}

const RECORD: &str = "loom.pr_program_record/v1";

impl Item {
    /// The record of one.
    pub(super) fn of(one: &Assessed, now: Timestamp) -> Self {
        Item {
            schema_version: RECORD,
            r#ref: Some(one.wish.name.clone()),
            key: one.key.clone(),
            state: Some(one.state),
            reasons: one.reasons.clone(),
            priority: Some(one.wish.priority.clone()),
            depends_on: one.wish.depends_on.clone(),
            checks: one.facts.checks.clone(),
            review: one.facts.review.clone(),
            mergeable: one.facts.mergeable.clone(),
            observed_at: now.to_string(),
            ..Item::default()
        }
    }

    /// An event about the program.
    pub(super) fn event(name: &'static str, reasons: Vec<String>, now: Timestamp) -> Self {
        Item {
            schema_version: RECORD,
            event: Some(name),
            reasons,
            observed_at: now.to_string(),
            ..Item::default()
        }
    }
}

/// The records of all, in the order of the program.
pub(super) fn records(assessment: &Assessment, now: Timestamp) -> Vec<Item> {
    assessment.pulls.iter().map(|one| Item::of(one, now)).collect()
}

/// How far a requirement is covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Coverage {
    /// No pull request serves it.
    None,
    /// Not all that serve it are done.
    Partial,
    /// All that serve it are done.
    Complete,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Covered {
    #[schemars(length(max = 100))]
    id: String,
    #[schemars(length(max = 300))]
    title: String,
    #[schemars(length(max = 5))]
    priority: Option<String>,
    coverage: Coverage,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DeltaFields {
    #[schemars(length(max = 500), inner(length(max = 160)))]
    added: Vec<String>,
    #[schemars(length(max = 500), inner(length(max = 160)))]
    removed: Vec<String>,
    #[schemars(length(max = 500), inner(length(max = 160)))]
    changed: Vec<String>,
}

/// What a program comes to.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ProgramFields {
    #[schemars(length(max = 48))]
    program: String,
    state: ProgramState,
    counts: BTreeMap<String, u64>,
    #[schemars(length(max = 500))]
    requirements: Vec<Covered>,
    delta: DeltaFields,
    complete: bool,
}

/// The final document.
pub(super) fn fields(
    program: &Program,
    assessment: &Assessment,
    delta: &Delta,
    complete: bool,
) -> ProgramFields {
    let mut counts = BTreeMap::from([("total".to_owned(), assessment.pulls.len() as u64)]);
    for one in &assessment.pulls {
        *counts.entry(one.state.as_str().to_owned()).or_default() += 1;
    }
    let covered = program.requirements.iter().map(|requirement| {
        let serves = |one: &&Assessed| one.wish.requirements.contains(&requirement.id);
        let serving: Vec<&Assessed> = assessment.pulls.iter().filter(serves).collect();
        let coverage = match serving.as_slice() {
            [] => Coverage::None,
            all if all.iter().all(|one| one.state.is_done()) => Coverage::Complete,
            _ => Coverage::Partial,
        };
        Covered {
            id: requirement.id.clone(),
            title: requirement.title.clone(),
            priority: requirement.priority.clone(),
            coverage,
        }
    });
    ProgramFields {
        program: program.id.clone(),
        state: assessment.state,
        counts,
        requirements: covered.collect(),
        delta: DeltaFields {
            added: delta.added.clone(),
            removed: delta.removed.clone(),
            changed: delta.changed.keys().cloned().collect(),
        },
        complete,
    }
}
