//! Loops: one call of the hub each.

use std::time::Duration;

use async_trait::async_trait;
use loom_domain::{Error, OperationId, Principal, Result};
use loom_hub::Report;
use serde_json::{Value, json};

use super::HubDesk;
use crate::desk::{Intent, Loops};

#[async_trait]
impl Loops for HubDesk {
    async fn run_loop(&self, intent: Intent, file: Value, wait: Duration) -> Result<Value> {
        let begun = self.hub.run_multi_agent(&intent.principal, &file, intent.dry_run);
        let run = Box::pin(begun).await?;
        match run.get("run_id").and_then(Value::as_str) {
            Some(id) => self.hub.wait_multi_agent(&id.parse()?, wait).await,
            None => Ok(run),
        }
    }
    async fn loops(&self, _: Principal) -> Result<Value> {
        let runs = self.hub.list_multi_agent().await?;
        serde_json::to_value(
            json!({"schema_version": "loom.multi_agent_list/v1", "items": runs, "nextCursor": null}),
        )
        .map_err(Error::internal)
    }
    async fn loop_run(&self, _: Principal, id: OperationId, wait: Duration) -> Result<Value> {
        self.hub.wait_multi_agent(&id, wait).await
    }
    async fn stop_loop(&self, who: Principal, id: OperationId, grace: Duration) -> Result<Value> {
        self.hub.stop_multi_agent(&who, &id, grace).await
    }
    async fn resume_loop(&self, intent: Intent, id: OperationId) -> Result<Value> {
        self.hub.resume_multi_agent(&intent.principal, &id, intent.dry_run).await
    }
    async fn loop_log(
        &self,
        _: Principal,
        id: OperationId,
        since: u64,
        lane: Option<String>,
    ) -> Result<Value> {
        self.hub.multi_agent_rows(id, since, lane).await
    }
    async fn report_lane(&self, who: Principal, report: Report) -> Result<()> {
        self.hub.report_lane(&who, report).await
    }
}
