//! Turns: one call of the hub each.

use std::time::Duration;

use async_trait::async_trait;
use loom_capabilities::TurnOrder;
use loom_domain::{Error, Principal, Result, TurnId};
use loom_hub::Asked;
use serde::Serialize;
use serde_json::{Value, json};

use super::HubDesk;
use crate::desk::{Intent, TurnNews, Turns};

/// Turns of one list.
const TURNS_LISTED: usize = 100;

fn value<T: Serialize>(document: T) -> Result<Value> {
    serde_json::to_value(document).map_err(Error::internal)
}

#[async_trait]
impl Turns for HubDesk {
    async fn begin_turn(&self, intent: Intent, order: Value, wait: Duration) -> Result<Value> {
        let order = TurnOrder::of(&order)?;
        let asked = self.hub.begin_turn(intent.principal, order, intent.dry_run, wait);
        match Box::pin(asked).await? {
            Asked::Plan(plan) => value(plan),
            Asked::Turn(turn) => self.hub.turn_document(turn.turn_id.parse()?, false).await,
        }
    }
    async fn turns(&self, _: Principal) -> Result<Value> {
        let turns = self.hub.list_turns(TURNS_LISTED).await?;
        value(json!({"schema_version": "loom.turn_list/v1", "items": turns, "nextCursor": null}))
    }
    async fn turn(&self, _: Principal, id: TurnId, with_journal: bool) -> Result<Value> {
        self.hub.turn_document(id, with_journal).await
    }
    async fn turn_news(&self, _: Principal, id: TurnId, behind: Option<u64>) -> Result<TurnNews> {
        let (rows, is_over) = self.hub.turn_news(&id, behind).await?;
        let rows = rows.iter().map(value).collect::<Result<Vec<Value>>>()?;
        Ok(TurnNews { rows, is_over })
    }
    async fn resume_turn(&self, who: Principal, id: TurnId, wait: Duration) -> Result<Value> {
        self.hub.resume_turn(who, id.clone(), wait).await?;
        self.hub.turn_document(id, false).await
    }
    async fn cancel_turn(&self, who: Principal, id: TurnId) -> Result<Value> {
        value(self.hub.cancel_turn(&who, id).await?)
    }
    async fn payload(&self, who: Principal, id: String, pointer: String, offset: usize) -> Result<Value> {
        self.hub.payload_piece(who, id, pointer, offset).await
    }
}
