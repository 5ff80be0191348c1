//! Schedules of reports and Turns.

use loom_api::{Mutation, Page, request, view};
use loom_domain::Principal;
use loom_domain::schedule::{Kind, Schedule};

use super::{Intent, desk};

desk! {
    /// Schedules.
    Schedules {
        /// Lists those of a kind.
        schedules(principal: Principal, kind: Kind) -> Page<view::ScheduleEntry>;
        /// Adds one.
        add_schedule(intent: Intent, kind: Kind, request: request::AddSchedule) -> Mutation<Schedule>;
        /// Reads one.
        schedule(principal: Principal, kind: Kind, name: String) -> view::ScheduleEntry;
        /// Switches one.
        switch_schedule(intent: Intent, kind: Kind, name: String, enabled: bool) -> Mutation<Schedule>;
        /// Removes one.
        remove_schedule(intent: Intent, kind: Kind, name: String) -> Mutation<Schedule>;
    }
}
