//! Schedules: what is done again and again at the owner's local times, and what became of each time (capability
//! specification 8.2 and 7.2).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::outbox::State;
use crate::{MembershipId, OutboxId, Timestamp, words};

/// Most schedules.
pub const SCHEDULES_MAX: i64 = 100;
/// Occurrences of a schedule that are kept.
pub const OCCURRENCES_KEPT: i64 = 1_000;
/// Occurrences that nobody was there for and that are listed; earlier ones are not.
pub const MISSED_MAX: usize = 100;
/// Most Memberships of a schedule.
pub const TO_MAX: usize = 20;

words! {
    /// What a schedule starts.
    pub enum Kind {
        /// A periodic report.
        Report = "report",
        /// A Turn.
        Turn = "turn",
    }
}

words! {
    /// What became of an occurrence.
    pub enum Outcome {
        /// It was taken, and its work has not ended.
        Started = "started",
        /// Its work was done.
        Done = "done",
        /// It was left out.
        Skipped = "skipped",
        /// Its work failed.
        Failed = "failed",
    }
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Task {
    /// A report is made and delivered.
    Report {
        /// Profile.
        profile: String,
        /// Window, told from the time that the occurrence is due.
        window: String,
        /// Language.
        lang: String,
        /// Forms that are delivered.
        formats: Vec<String>,
        /// Memberships that get it.
        to: Vec<MembershipId>,
    },
    /// A Turn runs.
    Turn {
        /// `loom.turn_config/v1`, without a key.
        config: Value,
    },
}

/// A schedule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Name.
    pub name: String,
    /// Order of commit.
    pub seq: u64,
    /// Five fields, or `@daily`, `@weekly`, `@monthly`.
    pub cron: String,
    /// IANA zone of its times.
    pub tz: String,
    /// Whether it runs.
    pub enabled: bool,
    /// What is done.
    #[serde(flatten)]
    pub task: Task,
    /// Time up to which its occurrences were looked at; each later one is still to come.
    pub seen_until: Timestamp,
    /// Creation.
    pub created_at: Timestamp,
    /// Last change.
    pub updated_at: Timestamp,
    /// Version, +1 with each change.
    pub version: u64,
}

impl Schedule {
    /// What it starts.
    pub const fn kind(&self) -> Kind {
        match self.task {
            Task::Report { .. } => Kind::Report,
            Task::Turn { .. } => Kind::Turn,
        }
    }
}

/// A time of a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// Local time as the schedule names it, such as `2026-03-29T02:30`.
    pub local: String,
    /// The instant at which it is due.
    pub at: Timestamp,
}

/// A delivery of an occurrence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Membership.
    pub membership_id: MembershipId,
    /// Outbox item.
    pub outbox_id: OutboxId,
    /// Its state when the occurrence ended.
    pub state: State,
}

/// What is known of the work of an occurrence.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Why it was left out or failed: a code.
    #[serde(default)]
    pub reason: Option<String>,
    /// The same as a sentence.
    #[serde(default)]
    pub message: Option<String>,
    /// Report that was made.
    #[serde(default)]
    pub report_id: Option<String>,
    /// Turn that ran.
    #[serde(default)]
    pub turn_id: Option<String>,
    /// What was sent.
    #[serde(default)]
    pub deliveries: Vec<Delivery>,
}

/// One time of a schedule, taken once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occurrence {
    /// Its key: name, nominal local time and zone.
    pub key: String,
    /// Order of commit.
    pub seq: u64,
    /// Schedule.
    pub schedule: String,
    /// What it starts.
    pub kind: Kind,
    /// Nominal local time.
    pub local: String,
    /// Zone.
    pub tz: String,
    /// When it was due.
    pub due_at: Timestamp,
    /// What became of it.
    pub outcome: Outcome,
    /// What its work came to.
    #[serde(flatten)]
    pub work: Work,
    /// Node that took it.
    pub node: String,
    /// Newest change.
    pub at: Timestamp,
}

/// The key of an occurrence.
pub fn key(name: &str, local: &str, tz: &str) -> String {
    format!("{name}/{local}/{tz}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_one_flat_object() {
        let task = Task::Turn { config: serde_json::json!({"connectors": []}) };
        let zero = Timestamp(0);
        let schedule = Schedule {
            name: "a".to_owned(),
            seq: 1,
            cron: "@daily".to_owned(),
            tz: "UTC".to_owned(),
            enabled: false,
            task,
            seen_until: zero,
            created_at: zero,
            updated_at: zero,
            version: 1,
        };
        let told = serde_json::to_value(&schedule).unwrap();
        assert_eq!((&told["kind"], &told["cron"]), (&"turn".into(), &"@daily".into()));
        assert_eq!(serde_json::from_value::<Schedule>(told).unwrap(), schedule);
        assert_eq!(key("a", "2026-03-29T02:30", "UTC"), "a/2026-03-29T02:30/UTC");
    }
}
