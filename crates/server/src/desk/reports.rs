//! Periodic reports.

use std::time::Duration;

use loom_api::request;
use loom_domain::Principal;
use serde_json::Value;

use super::desk;

desk! {
    /// Periodic reports.
    Reports {
        /// Makes one, or finds the one that an equal run has made, and delivers it.
        make_report(principal: Principal, asked: request::Report, wait: Duration) -> Value;
        /// Lists those that were made.
        reports(principal: Principal) -> Value;
        /// Reads one.
        report(principal: Principal, id: String) -> Value;
    }
}
