//! The configuration as a whole.

use loom_api::request;
use loom_domain::{OperationId, Principal};
use serde_json::Value;

use super::desk;

desk! {
    /// The configuration as a whole.
    Integration {
        /// It as objects, with its digest. A secret in it stops the answer.
        integration(principal: Principal) -> Value;
        /// Changes it as a plan says, or not at all.
        apply_integration(principal: Principal, wanted: request::ApplyIntegration) -> Value;
        /// Lists applies.
        integration_applies(principal: Principal) -> Value;
        /// Reads one.
        integration_apply(principal: Principal, id: OperationId) -> Value;
    }
}
