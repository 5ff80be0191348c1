//! Turns of connectors and Agents. Their documents are those of the capability half.

use std::time::Duration;

use loom_domain::{Principal, TurnId};
use serde_json::Value;

use super::{Intent, desk};

/// The journal of a Turn as it stands.
#[derive(Debug, Clone, Default)]
pub struct TurnNews {
    /// All rows, each with its `seq` and `kind`.
    pub rows: Vec<Value>,
    /// Whether nobody works on it, so that no row follows.
    pub is_over: bool,
}

desk! {
    /// Turns.
    Turns {
        /// Begins a Turn, or gives the one that has its key; the plan alone on a dry run.
        begin_turn(intent: Intent, order: Value, wait: Duration) -> Value;
        /// Lists them, newest first.
        turns(principal: Principal) -> Value;
        /// Reads one.
        turn(principal: Principal, id: TurnId, with_journal: bool) -> Value;
        /// Reads its journal; behind a place it waits until there is more, or nobody works on it.
        turn_news(principal: Principal, id: TurnId, behind: Option<u64>) -> TurnNews;
        /// Goes on with one.
        resume_turn(principal: Principal, id: TurnId, wait: Duration) -> Value;
        /// Asks one to stop.
        cancel_turn(principal: Principal, id: TurnId) -> Value;
        /// Reads a piece of a payload.
        payload(principal: Principal, id: String, pointer: String, offset: usize) -> Value;
    }
}
