//! Periodic reports of a hub.

use std::time::Duration;

use async_trait::async_trait;
use loom_api::request;
use loom_domain::{Error, Principal};
use loom_hub::reports::Shelf;
use serde_json::{Value, json};

use super::HubDesk;
use crate::desk::Reports;

#[async_trait]
impl Reports for HubDesk {
    async fn make_report(
        &self,
        who: Principal,
        asked: request::Report,
        wait: Duration,
    ) -> Result<Value, Error> {
        let made = self.hub.report(who, asked, wait).await?;
        Ok(json!({
            "schema_version": "loom.report_run/v1", "created": made.created, "report": made.report,
            "deliveries": made.deliveries,
        }))
    }
    async fn reports(&self, _: Principal) -> Result<Value, Error> {
        let lines = Shelf::new(self.hub.home()).list()?;
        Ok(json!({"schema_version": "loom.report_history/v1", "items": lines, "next_cursor": null}))
    }
    async fn report(&self, _: Principal, id: String) -> Result<Value, Error> {
        serde_json::to_value(Shelf::new(self.hub.home()).show(&id)?).map_err(Error::internal)
    }
}
