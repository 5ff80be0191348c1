//! The tests of a source map, run against a mock: no network, no clock but the deadline.

use std::sync::Arc;

use async_trait::async_trait;
use loom_domain::{Code, Error, Result};
use loom_secrets::{CredentialRef, Kind, Secret};
use loom_transport::backend::mock::{Answer, Expectation};
use loom_transport::{MockBackend, Place, Settings, Transport};
use serde::Serialize;
use serde_json::{Map, Value};

use super::connector::{DeclaredConnector, placed};
use super::map::{Exchange, Operation, Test};
use crate::{Credentials, NoObserver, Payload, RunLimits, RunRequest, RunSettings, World};

/// Seconds of one test.
const TEST_SECONDS: u64 = 10;
/// Most failures that one test tells.
const FAILURES_MAX: usize = 20;
/// Characters of a failure.
const FAILURE_CHARS: usize = 500;

/// How one test went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct TestResult {
    /// Its name.
    pub name: String,
    /// Operation.
    pub operation: String,
    /// Whether everything was as expected.
    pub ok: bool,
    /// What was not.
    pub failures: Vec<String>,
}

/// What stands in the place of a credential in tests.
pub(super) fn canary(name: &str) -> Secret {
    Secret::new(format!("test-credential-{name}"))
}

struct Canaries;

#[async_trait]
impl Credentials for Canaries {
    async fn resolve(&self, reference: &CredentialRef, _: Kind, _: &str) -> Result<Secret> {
        match reference {
            CredentialRef::Vault(name) => Ok(canary(name)),
            other => Err(Error::new(Code::CredentialUnavailable, format!("{other}: not in tests"))),
        }
    }
    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

/// Runs the tests of a connector, or the one of that name.
pub(super) async fn run(connector: &DeclaredConnector, only: Option<&str>) -> Result<Vec<TestResult>> {
    let tests: Vec<&Test> =
        connector.map().tests.iter().filter(|test| only.is_none_or(|name| test.name == name)).collect();
    if let (true, Some(name)) = (tests.is_empty(), only) {
        let names: Vec<&str> = connector.map().tests.iter().map(|test| test.name.as_str()).collect();
        return Err(
            Error::new(Code::NotFound, format!("no test is named {name}")).with_detail("tests", names)
        );
    }
    let mut results = Vec::new();
    for test in tests {
        let failures = Box::pin(one(connector, test)).await;
        let (name, operation) = (test.name.clone(), test.operation.clone());
        results.push(TestResult { name, operation, ok: failures.is_empty(), failures });
    }
    Ok(results)
}

async fn one(connector: &DeclaredConnector, test: &Test) -> Vec<String> {
    let Some(operation) = connector.map().operations.iter().find(|one| one.id == test.operation) else {
        return vec!["its operation is not there".to_owned()];
    };
    let backend = Arc::new(MockBackend::new());
    for exchange in &test.exchanges {
        backend.expect(expectation(connector, operation, exchange));
    }
    let credential_refs = connector.map().credentials.iter();
    let credential_refs =
        credential_refs.map(|one| (one.name.clone(), CredentialRef::Vault(one.name.clone())));
    let request = RunRequest {
        operation: test.operation.clone(),
        input: if test.input.is_null() { Value::Object(Map::new()) } else { test.input.clone() },
        limits: RunLimits { deadline_seconds: Some(TEST_SECONDS), ..RunLimits::default() },
        settings: RunSettings { credential_refs: credential_refs.collect(), ..RunSettings::default() },
        ..RunRequest::default()
    };
    let world = world(&backend);
    let outcome = Box::pin(crate::run(&world, connector, request, None, &mut NoObserver)).await;
    let mut failures = judged(test, outcome, backend.seen().len());
    if let Err(diff) = backend.verify() {
        failures.extend(diff.lines().map(str::to_owned));
    }
    failures.truncate(FAILURES_MAX);
    failures.into_iter().map(|failure| failure.chars().take(FAILURE_CHARS).collect()).collect()
}

fn world(backend: &Arc<MockBackend>) -> World {
    let backend: Arc<dyn loom_transport::HttpBackend> = backend.clone();
    let mut world = World::new(Arc::new(move |meter, _| {
        let settings = Settings { attempts: 1, ..Settings::default() };
        Transport::builder().backend(Arc::clone(&backend)).settings(settings).log(meter.log()).build()
    }));
    world.credentials = Arc::new(Canaries);
    world.key = Arc::new(|| Ok([0; 32]));
    world.rehearses = true;
    world
}

fn expectation(connector: &DeclaredConnector, operation: &Operation, exchange: &Exchange) -> Expectation {
    let wanted = &exchange.request;
    let mut expected =
        Expectation::new(wanted.method.as_ref().unwrap_or(&operation.request.method)).path(&wanted.path);
    if let Some(host) = &wanted.host {
        expected = expected.host(host);
    }
    for (name, value) in &wanted.query {
        expected = expected.query(name, value);
    }
    for (name, value) in &wanted.headers {
        expected = expected.header(name, value);
    }
    if let Some(json) = &wanted.json {
        expected = expected.json(json.clone());
    }
    let credential = wanted.credential.as_ref();
    let credential =
        credential.and_then(|name| connector.map().credentials.iter().find(|one| one.name == *name));
    if let Some(credential) = credential {
        let (place, value) = placed(credential, canary(&credential.name));
        expected = injected(expected, &place, value.expose());
    }
    let given = &exchange.response;
    let mut answer = match (&given.json, &given.text) {
        (Some(json), _) => Answer::json(json),
        (None, Some(text)) => {
            Answer::status(200).body(given.content_type.as_deref().unwrap_or("text/plain"), text)
        }
        (None, None) => Answer::status(200),
    };
    for (name, value) in &given.headers {
        answer = answer.header(name, value);
    }
    expected.answer(answer.with_status(given.status))
}

fn injected(expected: Expectation, place: &Place, value: &str) -> Expectation {
    use base64::Engine as _;
    match place {
        Place::Bearer => expected.header("authorization", &format!("Bearer {value}")),
        Place::Basic => {
            let value = base64::engine::general_purpose::STANDARD.encode(value);
            expected.header("authorization", &format!("Basic {value}"))
        }
        Place::Header(name) => expected.header(&name.to_ascii_lowercase(), value),
        Place::Query(name) => expected.query(name, value),
    }
}

/// Everything in which a run differs from what its test expects.
fn judged(test: &Test, outcome: Result<Payload>, requests: usize) -> Vec<String> {
    let expect = &test.expect;
    let mut failures = Vec::new();
    let mut differ = |what: &str, expected: Value, found: Value| {
        if expected != found {
            failures.push(format!("{what}: expected {expected}, found {found}"));
        }
    };
    let (payload, error) = match outcome {
        Ok(payload) => {
            let error = payload.error.clone();
            (Some(payload), error)
        }
        Err(error) => (None, Some(error)),
    };
    differ("ok", expect.ok.into(), error.is_none().into());
    if let Some(expected) = &expect.error {
        let found = error.as_ref().map(|error| error.code.as_str());
        differ("error", expected.as_str().into(), found.into());
    } else if let Some(error) = error.as_ref().filter(|_| expect.ok) {
        differ("error", Value::Null, format!("{}: {}", error.code.as_str(), error.message).into());
    }
    if let Some(expected) = expect.requests {
        differ("requests", expected.into(), requests.into());
    }
    let of = |read: fn(&Payload) -> Value| payload.as_ref().map(read).unwrap_or_default();
    if let Some(expected) = expect.item_count {
        differ("item_count", expected.into(), of(|payload| payload.item_count.into()));
    }
    if let Some(expected) = expect.complete {
        differ("complete", expected.into(), of(|payload| payload.complete.into()));
    }
    if let Some(expected) = expect.dropped_fields {
        differ("dropped_fields", expected.into(), of(|payload| payload.redaction.dropped_fields.into()));
    }
    if let Some(expected) = &expect.fields {
        differ("fields", without_nulls(expected), without_nulls(&of(|payload| payload.fields.clone())));
    }
    let items = of(|payload| payload.items.clone().into());
    for (at, expected) in expect.items.iter().flatten().enumerate() {
        let found = items.get(at).cloned().unwrap_or_default();
        differ(&format!("items/{at}"), without_nulls(expected), without_nulls(&found));
    }
    failures
}

/// A field that is absent and one that is null are the same to a test.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(_, member)| !member.is_null());
            Value::Object(kept.map(|(key, member)| (key.clone(), without_nulls(member))).collect())
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}
