//! Custom connectors: a source map (`loom.source_map/v1`) is read, checked, tested, kept, and run like a built-in.
//!
//! A map says what is asked of which host and which fields of the answer leave; it holds no code but a jq program per
//! item. What it cannot say, such as another scheme or host for an input, it cannot do either.

mod answer;
mod check;
mod connector;
mod entry;
mod fields;
mod installed;
mod map;
mod places;
mod request;
mod rules;
mod suite;
mod template;

use loom_domain::{Code, Error, Result};
use serde::Serialize;
use serde_json::Value;

use crate::RunRequest;

pub(crate) use answer::yaml;
pub use check::Fault;
pub use connector::DeclaredConnector;
pub use entry::LOCAL_PACKAGE;
pub use installed::{Added, Damaged, InstalledMaps, Loaded};
pub use suite::TestResult;

/// What `validate` tells about a file.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Validation {
    /// Whether the map may be used.
    pub ok: bool,
    /// Id, if the file is a map.
    pub id: Option<String>,
    /// Version.
    pub version: Option<String>,
    /// Its operations.
    pub operations: Vec<String>,
    /// Number of its tests.
    pub tests: usize,
    /// Everything that is wrong, at most 50.
    pub errors: Vec<Fault>,
}

/// Checks a source map. Nothing is opened and nothing is kept.
pub fn validate(text: &str) -> Validation {
    match check::read(text) {
        Ok(map) => Validation {
            ok: true,
            id: Some(map.id),
            version: Some(map.version),
            operations: map.operations.into_iter().map(|operation| operation.id).collect(),
            tests: map.tests.len(),
            errors: Vec::new(),
        },
        Err(errors) => {
            Validation { ok: false, id: None, version: None, operations: Vec::new(), tests: 0, errors }
        }
    }
}

/// Reads a source map that is valid; else `invalid_input` with the first fault and all of them in `detail.errors`.
pub fn parse(text: &str) -> Result<DeclaredConnector> {
    check::read(text).map(DeclaredConnector::new).map_err(|faults| {
        let first = faults.first();
        let place = first.map(|fault| format!("line {}: {}: {}", fault.line, fault.pointer, fault.message));
        let is_secret = first.is_some_and(|fault| fault.code == "secret");
        let code = if is_secret { Code::SecretInInput } else { Code::InvalidInput };
        Error::new(code, format!("the source map is not valid: {}", place.unwrap_or_default()))
            .with_detail("pointer", first.map(|fault| fault.pointer.clone()).unwrap_or_default())
            .with_detail("errors", serde_json::json!(faults))
            .with_hint("loom value-connectors validate FILE")
    })
}

/// Runs the tests of a source map, or the one named, against a mock.
pub async fn run_tests(text: &str, only: Option<&str>) -> Result<Vec<TestResult>> {
    let connector = parse(text)?.unpaced();
    Box::pin(suite::run(&connector, only)).await
}

/// The order of a live test: `probe` with the input of its first test that is expected to succeed. Run it with
/// [`crate::run`] in the owner's world; it asks the real service once.
pub fn live_request(connector: &DeclaredConnector) -> Option<RunRequest> {
    let mut tests = connector.map().tests.iter();
    let input = tests.find(|test| test.operation == "probe" && test.expect.ok).map(|test| test.input.clone());
    let takes_none =
        connector.map().inputs.get("required").and_then(Value::as_array).is_none_or(Vec::is_empty);
    let input = input.or_else(|| takes_none.then(|| serde_json::json!({})))?;
    Some(RunRequest { operation: "probe".to_owned(), input, ..RunRequest::default() })
}

/// The form of a source map as a JSON Schema.
pub(crate) fn form() -> Value {
    rules::rules()
}

#[cfg(test)]
mod tests;
