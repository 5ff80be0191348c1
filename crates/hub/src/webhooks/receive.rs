//! Inbound deliveries: verified over their raw bytes, recorded before they are answered, once for each id.

use loom_capabilities::http_webhook::signature::{Refusal, Scheme, SigningKey, verify};
use loom_capabilities::sha256_of_bytes;
use loom_domain::webhook::{Endpoint, check_name};
use loom_domain::{Code, Error, Principal, Result, text::prefix};
use loom_secrets::{Profile, Secret};
use loom_store::ops::webhooks::{NewHook, Recorded};
use serde_json::{Value, json};

use crate::hub::Hub;

/// Events of one batch.
const BATCH_MAX: usize = 100;
/// Characters of an id or type that a sender gives.
const KEY_BYTES_MAX: usize = 256;

/// A delivery as it arrived.
#[derive(Debug, Clone)]
pub struct Hook {
    /// Headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: bytes::Bytes,
}

/// What becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It is recorded.
    Accepted,
    /// It was known.
    Duplicate,
}

impl Hub {
    /// Takes a delivery on a route. A route without a usable secret does not exist.
    pub async fn receive_hook(&self, route: String, hook: Hook) -> Result<Taken> {
        check_name(&route).map_err(|_| unknown())?;
        let endpoint = self.store().endpoint(route.clone()).await.map_err(|error| of_route(&error))?;
        let secrets = self.secrets(&endpoint).await.map_err(|error| of_route(&error))?;
        if !endpoint.enabled || secrets.iter().all(|secret| secret.expose().trim().is_empty()) {
            return Err(unknown());
        }
        let scheme = Scheme::parse(&endpoint.scheme).ok_or_else(unknown)?;
        if scheme == Scheme::Standard {
            signs(&secrets).map_err(|error| of_route(&error))?;
        }
        let now = self.now().0.div_euclid(1_000);
        if let Err(refusal) = verify(scheme, &hook.headers, &hook.body, &secrets, now) {
            self.refuse(&route, word(refusal)).await;
            return Err(Error::new(Code::SignatureInvalid, "the delivery is not signed as it should be")
                .with_detail("reason", word(refusal)));
        }
        let events = match self.events(&endpoint, scheme, &hook) {
            Ok(events) => events,
            Err(error) => {
                self.refuse(&route, "body_invalid").await;
                return Err(error);
            }
        };
        let key = own_key(scheme, &hook);
        Ok(match self.store().record_hook(self.act(Principal::Hub), route, key, events).await? {
            Recorded::Accepted => Taken::Accepted,
            Recorded::Duplicate => Taken::Duplicate,
        })
    }

    /// Lists and counts a refusal; that it cannot be listed changes no answer.
    async fn refuse(&self, route: &str, reason: &'static str) {
        self.metrics().hook_refused(reason);
        let stored = self.store().refuse_hook(self.act(Principal::Hub), route.to_owned(), reason.to_owned());
        if let Err(error) = stored.await {
            tracing::warn!("a refused webhook was not listed: {error}");
        }
    }

    /// The events of a delivery: one, or those of a batch.
    fn events(&self, endpoint: &Endpoint, scheme: Scheme, hook: &Hook) -> Result<Vec<NewHook>> {
        let kind =
            header(hook, "content-type").split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let document: Value = match kind.as_str() {
            "application/x-www-form-urlencoded" => {
                Value::String(String::from_utf8_lossy(&hook.body).into_owned())
            }
            _ => serde_json::from_slice(&hook.body)
                .map_err(|error| Error::new(Code::InvalidJson, format!("line {}: not JSON", error.line())))?,
        };
        let given = match (kind.as_str(), document) {
            ("application/cloudevents-batch+json", Value::Array(all)) if all.len() <= BATCH_MAX => all,
            ("application/cloudevents-batch+json", _) => {
                return Err(Error::new(
                    Code::InvalidInput,
                    format!("a batch is a list of at most {BATCH_MAX} events"),
                ));
            }
            (_, document) => vec![document],
        };
        let is_cloud = kind.starts_with("application/cloudevents");
        let events = given.into_iter().enumerate().map(|(position, document)| {
            let event_key = event_key(scheme, hook, &document, is_cloud, position);
            let event_type = document.get("type").and_then(Value::as_str);
            let event_type = event_type.map(|text| prefix(text, KEY_BYTES_MAX).to_owned());
            let mut data = json!({"endpoint": endpoint.name, "event": document});
            self.redactor().redact_json(&mut data, Profile::Store);
            NewHook { event_key, event_type, data }
        });
        Ok(events.collect())
    }
}

fn header<'a>(hook: &'a Hook, name: &str) -> &'a str {
    hook.headers.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value.as_str())
}

/// The key by which an event counts once. Only what is signed makes it: headers of an event are not, so whoever saw
/// a delivery could send it again under ids of their own.
fn event_key(scheme: Scheme, hook: &Hook, document: &Value, is_cloud: bool, position: usize) -> String {
    match (cloud_key(document).filter(|_| is_cloud), position) {
        (Some(key), _) => key,
        (None, 0) => own_key(scheme, hook),
        (None, position) => format!("{}#{position}", own_key(scheme, hook)),
    }
}

/// Source and id of a `CloudEvent` whose attributes are in the body.
fn cloud_key(document: &Value) -> Option<String> {
    let member = |name: &str| document.get(name).and_then(Value::as_str);
    Some(sha256_of_bytes(format!("{}\n{}", member("source")?, member("id")?)))
}

fn unknown() -> Error {
    Error::new(Code::NotFound, "no such route")
}

/// What a sender is told when the endpoint or its secret cannot be read: there is no such route, or, after a
/// failure of ours, a status after which it sends again. Nothing of the cause goes out.
fn of_route(error: &Error) -> Error {
    let reason = error.detail.get("reason").and_then(Value::as_str);
    match (error.code, reason) {
        (Code::NotFound, _)
        | (Code::CredentialUnavailable, Some("missing" | "field_missing" | "too_short")) => unknown(),
        (code, _) => {
            tracing::warn!("a webhook cannot be taken: {error}");
            let code = if code.http() >= 500 { code } else { Code::Internal };
            Error::new(code, "the delivery cannot be checked now")
        }
    }
}

/// Whether one of the secrets is a key: without any, that nothing fits is no fault of the sender.
fn signs(secrets: &[Secret]) -> Result<()> {
    let mut last = Err(unknown());
    for secret in secrets {
        last = SigningKey::parse(secret).map(drop);
        if last.is_ok() {
            break;
        }
    }
    last
}

/// The key of a whole delivery, whatever type its headers say: the id that the sender signed; where none is
/// signed, the bytes themselves.
fn own_key(scheme: Scheme, hook: &Hook) -> String {
    match scheme {
        Scheme::Standard => prefix(header(hook, "webhook-id"), KEY_BYTES_MAX).to_owned(),
        _ => sha256_of_bytes(&hook.body),
    }
}

fn word(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::HeaderMissing => "header_missing",
        Refusal::HeaderRepeated => "header_repeated",
        Refusal::HeaderInvalid => "header_invalid",
        Refusal::Stale => "stale",
        Refusal::SignatureInvalid => "signature_invalid",
    }
}
