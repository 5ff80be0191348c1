//! The working mark: a reaction, cosmetic, behind a breaker (messaging specification 5.7).

use serde_json::json;

use super::Inner;
use super::errors::Effect;
use super::wire::is_ts;
use crate::{Fault, FaultClass, Mark};

/// The reaction that says "being worked on".
const WORKING: &str = "eyes";
impl Inner {
    pub(super) async fn mark(&self, channel: &str, message: &str, mark: Mark) -> Result<(), Fault> {
        if !is_ts(message) {
            return Ok(());
        }
        if self.breaker.is_open() {
            return Err(Fault::new(
                FaultClass::Quota,
                "breaker_open",
                "cosmetic calls are stopped for a while",
            ));
        }
        let method = match mark {
            Mark::Working => "reactions.add",
            Mark::None => "reactions.remove",
        };
        let params = json!({"channel": channel, "timestamp": message, "name": WORKING});
        let result = self.api.call(method, params, Effect::None).await.map(|_| ());
        self.breaker.record(result.as_ref().copied().map_err(|fault| fault.class));
        result
    }
}
