//! Schemas of the documents that Loom prints and reads, made from their types.

use serde_json::Value;

use crate::{
    CatalogEntry, ConnectorConfig, HostModePlan, HostOverview, Payload, Readiness, Row, RunPlan, Schema,
    SourceMap, TurnOrder, TurnPlan, TurnView, Validation,
};

/// A document and its schema.
#[derive(Debug, Clone)]
pub struct Document {
    /// `loom.NAME/vN`.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    schema: Schema,
}

impl Document {
    /// The schema.
    pub fn schema(&self) -> Value {
        self.schema.value().into_owned()
    }
}

/// Every document of this room.
pub fn documents() -> Vec<Document> {
    let one = |name, about, schema| Document { name, about, schema };
    vec![
        one("loom.catalog_entry/v1", "what the catalog knows of a capability", Schema::of::<CatalogEntry>()),
        one("loom.connector_config/v1", "configuration of a run", Schema::of::<ConnectorConfig>()),
        one(
            "loom.connector_plan/v1",
            "calls of connectors, to be approved",
            Schema::given(crate::gate::form()),
        ),
        one("loom.history_row/v1", "a run that was kept", Schema::of::<Row>()),
        one("loom.host_mode_plan/v1", "a Turn on a host, before it runs", Schema::of::<HostModePlan>()),
        one("loom.host_modes/v1", "every host", Schema::of::<HostOverview>()),
        one(
            "loom.pr_program/v1",
            "pull requests that belong together",
            Schema::of::<crate::pr_program::Written>(),
        ),
        one("loom.readiness/v1", "whether a capability can run", Schema::of::<Readiness>()),
        one("loom.run_plan/v1", "what a run would do", Schema::of::<RunPlan>()),
        one("loom.source_map/v1", "a custom connector as a file", Schema::given(crate::declared::form())),
        one("loom.source_map_packet/v1", "a connector in short", Schema::of::<SourceMap>()),
        one("loom.source_map_validation/v1", "what is wrong with a source map", Schema::of::<Validation>()),
        one("loom.turn/v1", "a Turn and how far it is", Schema::of::<TurnView>()),
        one("loom.turn_config/v1", "a Turn as it is asked for", Schema::of::<TurnOrder>()),
        one("loom.turn_plan/v1", "what a Turn would do", Schema::of::<TurnPlan>()),
        one("loom.value_payload/v1", "what a run leaves behind", Schema::of::<Payload>()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_document_has_a_schema_with_members() {
        for document in documents() {
            assert!(document.schema()["properties"].is_object(), "{}", document.name);
        }
    }
}
