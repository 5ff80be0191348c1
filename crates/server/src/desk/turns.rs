//! Turns of connectors and Agents. Their documents are those of the capability half.

use std::time::Duration;

use loom_domain::{Principal, TurnId};
use serde_json::Value;

use super::{Intent, desk};

desk! {
    /// Turns.
    Turns {
        /// Begins a Turn, or gives the one that has its key; the plan alone on a dry run.
        begin_turn(intent: Intent, order: Value, wait: Duration) -> Value;
        /// Lists them, newest first.
        turns(principal: Principal) -> Value;
        /// Reads one.
        turn(principal: Principal, id: TurnId, with_journal: bool) -> Value;
        /// Goes on with one.
        resume_turn(principal: Principal, id: TurnId, wait: Duration) -> Value;
        /// Asks one to stop.
        cancel_turn(principal: Principal, id: TurnId) -> Value;
        /// Reads a piece of a payload.
        payload(principal: Principal, id: String, pointer: String, offset: usize) -> Value;
    }
}
