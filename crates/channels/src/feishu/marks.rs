//! The working mark: a reaction, cosmetic, behind a breaker (messaging specification 5.7).

use loom_transport::Method;
use serde_json::{Value, json};

use super::Inner;
use super::api::Call;
use super::wire::{data, is_id, is_message, list, text};
use crate::{Fault, FaultClass, Mark};

/// The reaction that says "being worked on".
const WORKING: &str = "OnIt";

impl Inner {
    pub(super) async fn mark(&self, message: &str, mark: Mark) -> Result<(), Fault> {
        if !is_message(message) {
            return Ok(());
        }
        if self.breaker.is_open() {
            return Err(Fault::new(
                FaultClass::Quota,
                "breaker_open",
                "cosmetic calls are stopped for a while",
            ));
        }
        let path = format!("im/v1/messages/{message}/reactions");
        let result = match mark {
            Mark::Working => self.react(&path).await,
            Mark::None => self.unreact(&path).await,
        };
        self.breaker.record(result.as_ref().copied().map_err(|fault| fault.class));
        result
    }

    async fn react(&self, path: &str) -> Result<(), Fault> {
        let body = json!({"reaction_type": {"emoji_type": WORKING}});
        self.api.call(&Call::quiet("react", Method::POST, path).json(body)).await.map(drop)
    }

    /// The id of our own reaction is looked up: a hub that started anew does not know it.
    async fn unreact(&self, path: &str) -> Result<(), Fault> {
        let listed = Call::get("reactions", path).query("reaction_type", WORKING).query("page_size", "50");
        let body = self.api.call(&listed).await?;
        let is_ours = |one: &&Value| {
            let operator = one.get("operator").unwrap_or(&Value::Null);
            text(operator, "operator_type") == Some("app")
                && text(operator, "operator_id") == Some(&self.app_id)
        };
        let ours = list(data(&body), "items").iter().find(is_ours).and_then(|one| text(one, "reaction_id"));
        let Some(id) = ours.filter(|id| is_id(&id.replace('-', "_"))) else { return Ok(()) };
        let call = Call::quiet("unreact", Method::DELETE, format!("{path}/{id}"));
        self.api.call(&call).await.map(drop)
    }
}
