//! Schedules. Their members are in `snake_case`.

use loom_domain::schedule::{Occurrence, Schedule, Slot};
use serde::{Deserialize, Serialize};

/// A schedule with what comes and what was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScheduleEntry {
    /// The schedule.
    #[serde(flatten)]
    pub schedule: Schedule,
    /// Its next times, whether it runs or not.
    pub next: Vec<Slot>,
    /// Its newest occurrences, the newest first.
    pub occurrences: Vec<Occurrence>,
}
