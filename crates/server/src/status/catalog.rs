//! Capabilities as the status routes tell of them.

use loom_capabilities::{Capability, Catalog, Cx, Readiness, RunLimits, RunSettings, World};
use loom_domain::{Error, Result};
use serde_json::{Map, Value, json};

/// A line for each capability, in the order of the catalog.
pub(super) async fn lines(catalog: &Catalog, world: Option<&World>) -> Vec<Value> {
    let mut lines = Vec::new();
    for capability in catalog.all() {
        let entry = capability.entry();
        let readiness = readiness(&**capability, world).await.map(|readiness| readiness.status);
        let operations: Vec<&String> = entry.operations.iter().map(|operation| &operation.id).collect();
        lines.push(json!({
            "id": entry.qualified(), "kind": entry.kind, "title": entry.title, "origin": entry.origin,
            "version": entry.version, "boundary": entry.boundary, "readiness": readiness, "operations": operations,
        }));
    }
    lines
}

/// One entry with its schemas.
pub(super) async fn entry(capability: &dyn Capability, world: Option<&World>) -> Result<Value> {
    let mut entry = capability.entry().clone();
    if let Some(readiness) = readiness(capability, world).await {
        entry.readiness = readiness;
    }
    let mut schemas = Map::new();
    for operation in &entry.operations {
        schemas.insert(format!("{}_input", operation.id), operation.input.value().into_owned());
    }
    let mut document = serde_json::to_value(&entry).map_err(Error::internal)?;
    if let Some(members) = document.as_object_mut() {
        members.insert("schemas".to_owned(), Value::Object(schemas));
    }
    Ok(document)
}

/// Whether it could run now, judged without the network.
async fn readiness(capability: &dyn Capability, world: Option<&World>) -> Option<Readiness> {
    let (entry, world) = (capability.entry(), world?);
    let operation = entry.operations.first()?;
    let cx = Cx::new(world, entry, operation, &RunSettings::default(), RunLimits::default());
    Some(capability.readiness(&cx, None).await)
}
