//! The configuration of a hub as a whole.

use async_trait::async_trait;
use loom_api::request;
use loom_domain::{Error, OperationId, Principal};
use loom_store::ops::integration::{Applied, Apply};
use serde_json::{Value, json};

use super::{HubDesk, INSTALLED};
use crate::desk::Integration;

#[async_trait]
impl Integration for HubDesk {
    async fn integration(&self, _: Principal) -> Result<Value, Error> {
        let tree = self.hub.store().integration_tree().await?;
        let objects = tree.to_objects();
        for object in &objects {
            let text = serde_json::to_string(object).map_err(Error::internal)?;
            let checked = self.hub.redactor().check_export(&text);
            checked.map_err(|error| error.with_detail("object", format!("{}/{}", object.kind, object.id)))?;
        }
        Ok(json!({"schema_version": "loom.integration/v1", "digest": tree.digest(), "objects": objects}))
    }
    async fn apply_integration(
        &self,
        who: Principal,
        wanted: request::ApplyIntegration,
    ) -> Result<Value, Error> {
        let text = serde_json::to_string(&wanted.plan).map_err(Error::internal)?;
        self.hub.redactor().check_export(&text)?;
        let apply = Apply {
            plan: wanted.plan,
            revision: wanted.revision,
            reverts: wanted.reverts.as_deref().map(str::parse::<OperationId>).transpose()?,
            groups: self.trust_groups(),
            installed: INSTALLED,
        };
        told(&self.hub.store().apply_integration(self.act(who), apply).await?)
    }
    async fn integration_applies(&self, _: Principal) -> Result<Value, Error> {
        let applies = self.hub.store().integration_applies().await?;
        let line = |applied: &Applied| {
            json!({"apply_id": applied.apply_id, "at": applied.at, "revision": applied.revision,
                   "reverts": applied.reverts, "plan_digest": applied.plan.plan_digest,
                   "changed": applied.plan.changes.len(), "after_digest": applied.after_digest})
        };
        let items: Vec<Value> = applies.iter().map(line).collect();
        Ok(json!({"schema_version": "loom.integration_applies/v1", "items": items, "next_cursor": null}))
    }
    async fn integration_apply(&self, _: Principal, id: OperationId) -> Result<Value, Error> {
        told(&self.hub.store().integration_apply(id).await?)
    }
}

fn told(applied: &Applied) -> Result<Value, Error> {
    let mut document = serde_json::to_value(applied).map_err(Error::internal)?;
    if let Some(members) = document.as_object_mut() {
        members.insert("schema_version".to_owned(), "loom.integration_apply/v1".into());
    }
    Ok(document)
}
