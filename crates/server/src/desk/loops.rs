//! Loops of several Agents. Their documents are those of the capability half.

use std::time::Duration;

use loom_domain::{OperationId, Principal};
use loom_hub::Report;
use serde_json::Value;

use super::{Intent, desk};

desk! {
    /// Loops of several Agents.
    Loops {
        /// Begins one and waits for its end; the plan alone on a dry run.
        run_loop(intent: Intent, file: Value, wait: Duration) -> Value;
        /// Lists them, newest first.
        loops(principal: Principal) -> Value;
        /// Reads one, at its end if asked to wait.
        loop_run(principal: Principal, id: OperationId, wait: Duration) -> Value;
        /// Asks one to stop.
        stop_loop(principal: Principal, id: OperationId, grace: Duration) -> Value;
        /// Goes on with one; shows it as it is on a dry run.
        resume_loop(intent: Intent, id: OperationId) -> Value;
        /// Rows of its journal behind a place, of one lane if wanted.
        loop_log(principal: Principal, id: OperationId, since: u64, lane: Option<String>) -> Value;
        /// Takes the report of a lane.
        report_lane(principal: Principal, report: Report) -> ();
    }
}
