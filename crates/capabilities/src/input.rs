//! Input of an operation: defaults, validation, and the typed value.

use loom_domain::{Code, Error, Result};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Operation, RunRequest, schema};

/// Fills the schema's defaults in and checks the result; gives what a run takes.
pub fn accept_input(operation: &Operation, mut input: Value) -> Result<Value> {
    if input.is_null() {
        input = Value::Object(serde_json::Map::new());
    }
    let schema = operation.input.value();
    schema::check(&schema, &input)?;
    let properties = schema.get("properties").and_then(Value::as_object);
    let defaults =
        properties.into_iter().flatten().filter_map(|(key, property)| Some((key, property.get("default")?)));
    if let Some(members) = input.as_object_mut() {
        for (key, default) in defaults {
            members.entry(key.clone()).or_insert_with(|| default.clone());
        }
    }
    Ok(input)
}

/// The input as the connector's own type.
pub fn read_input<T: DeserializeOwned>(request: &RunRequest) -> Result<T> {
    T::deserialize(&request.input).map_err(|error| {
        Error::new(Code::InvalidInput, format!("the input: {error}")).with_detail("pointer", "")
    })
}
