//! The short form of an entry, enough for an agent to start without other documents.

use serde::Serialize;
use serde_json::Value;

use crate::{Boundary, CatalogEntry, Effect, HostRule, Operation, Readiness, Schema, Status};

/// A connector in short.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct SourceMap {
    /// Canonical id.
    pub id: String,
    /// One line.
    pub title: String,
    /// Version.
    pub version: String,
    /// The widest thing it does.
    pub boundary: Boundary,
    /// How ready it is.
    pub readiness: Status,
    /// Hosts it reaches.
    pub hosts: Vec<HostRule>,
    /// What it does.
    pub operations: Vec<MappedOperation>,
    /// How writes are gated.
    pub write_gate: Option<String>,
    /// When to stop and ask.
    pub stop_conditions: Vec<String>,
    /// What to do first.
    pub first_steps: Vec<String>,
}

/// An operation in short.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct MappedOperation {
    /// Id.
    pub id: String,
    /// What it does to the outside.
    pub effect: Effect,
    /// The command.
    pub command: String,
    /// Names of its input.
    pub input: Vec<String>,
    /// Names of what it gives, or `as` an earlier operation.
    pub output_fields: Vec<String>,
}

/// The short form of an entry.
pub fn source_map(entry: &CatalogEntry, readiness: &Readiness) -> SourceMap {
    let operations = entry.operations.iter().enumerate().map(|(at, operation)| MappedOperation {
        id: operation.id.clone(),
        effect: operation.effect,
        command: match at {
            0 => entry.command(),
            _ => format!("{} {}", entry.command(), operation.id.replace('_', "-")),
        },
        input: names(&operation.input),
        output_fields: output_fields(&entry.operations, at),
    });
    let first_steps = vec![
        entry.command(),
        format!("loom {}", entry.examples[0].replace("\\\n   ", "").replace("  ", " ")),
        format!("loom capability show {}", entry.qualified()),
    ];
    SourceMap {
        id: entry.qualified(),
        title: entry.title.clone(),
        version: entry.version.clone(),
        boundary: entry.boundary,
        readiness: readiness.status,
        hosts: entry.hosts.clone(),
        operations: operations.collect(),
        write_gate: entry.write_gate.clone(),
        stop_conditions: entry.stop_conditions.clone(),
        first_steps,
    }
}

/// Names of what an operation gives, or of the earlier operation that gives the same: the map stays short.
fn output_fields(operations: &[Operation], at: usize) -> Vec<String> {
    let Some(operation) = operations.get(at) else { return Vec::new() };
    let earlier = operations.iter().take(at).find(|one| one.output_schema == operation.output_schema);
    match earlier {
        Some(earlier) => vec![format!("as {}", earlier.id)],
        None => [&operation.fields, &operation.item].into_iter().flatten().flat_map(names).collect(),
    }
}

fn names(schema: &Schema) -> Vec<String> {
    let value = schema.value();
    let properties = value.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAP-036: a source map is at most 2 KiB per connector.
    #[test]
    fn cap_036_a_source_map_is_short() {
        for entry in crate::Catalog::builtin().entries() {
            let text = serde_json::to_string(&source_map(entry, &Readiness::ready(entry))).unwrap();
            assert!(text.len() <= 2 * 1024, "{}: {} bytes", entry.id, text.len());
        }
    }
}
