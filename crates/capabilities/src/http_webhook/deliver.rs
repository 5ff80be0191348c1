//! Deliveries: what is sent to an endpoint, signed anew in every attempt.

use std::time::Duration;

use loom_domain::webhook::{ANSWER_BYTES_MAX, BODY_BYTES_MAX, Endpoint, Envelope, Tried};
use loom_domain::{Code, Error, Result, Timestamp, text::prefix};
use loom_secrets::{CredentialRef, Profile, Redactor, Secret};
use loom_transport::{Hosts, Method, Transport};
use serde_json::{Value, json};

use super::signature::{SigningKey, signatures};

/// Longest attempt.
const ATTEMPT: Duration = Duration::from_secs(20);
/// Bytes of an answer that are read.
const ANSWER_READ_MAX: u64 = 256 * 1024;
/// Where our events come from.
const SOURCE: &str = "urn:loom";
/// Characters of a type.
const TYPE_CHARS: std::ops::RangeInclusive<usize> = 1..=200;

/// A body and the headers of its envelope; both are the same in every attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Body.
    pub body: String,
    /// Headers, the content type among them.
    pub headers: Vec<(String, String)>,
}

/// Makes the message of an event in the form that an endpoint wants.
pub fn message(
    endpoint: &Endpoint,
    id: &str,
    event_type: &str,
    data: &Value,
    now: Timestamp,
) -> Result<Message> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !TYPE_CHARS.contains(&event_type.len()) || !event_type.chars().all(is_word) {
        return Err(wrong("/type", "a type has 1 to 200 of A-Z, a-z, 0-9, _, - and ."));
    }
    if !endpoint.event_types.is_empty() && !endpoint.event_types.iter().any(|known| known == event_type) {
        return Err(wrong("/type", &format!("the endpoint {} takes no {event_type}", endpoint.name)));
    }
    let cloud = json!({"specversion": "1.0", "id": id, "source": SOURCE, "type": event_type, "time": now});
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let (body, headers) = match endpoint.envelope {
        Envelope::Standard => {
            let body = json!({"type": event_type, "timestamp": now, "data": data});
            (body.to_string(), vec![header("content-type", "application/json")])
        }
        Envelope::Cloudevents => {
            let mut body = cloud;
            if let Some(members) = body.as_object_mut() {
                members.insert("datacontenttype".to_owned(), "application/json".into());
                members.insert("data".to_owned(), data.clone());
            }
            (body.to_string(), vec![header("content-type", "application/cloudevents+json")])
        }
        Envelope::CloudeventsBinary => {
            let attributes = cloud.as_object().cloned().unwrap_or_default();
            let attributes = attributes.iter().map(|(name, value)| {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                (format!("ce-{name}"), value)
            });
            let headers = std::iter::once(header("content-type", "application/json")).chain(attributes);
            (data.to_string(), headers.collect())
        }
    };
    if body.len() > BODY_BYTES_MAX {
        return Err(wrong("/data", "the body is over 256 KiB"));
    }
    Ok(Message { body, headers })
}

fn wrong(pointer: &str, why: &str) -> Error {
    Error::new(Code::InvalidInput, why).with_detail("pointer", pointer)
}

/// Base URLs that the owner named with an endpoint: a service on this machine, or none.
pub fn own_origins(url: &str) -> Vec<String> {
    let Ok(parsed) = url::Url::parse(url) else { return Vec::new() };
    let is_local = match parsed.host() {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost",
        None => false,
    };
    if is_local { vec![parsed.origin().ascii_serialization()] } else { Vec::new() }
}

/// The secrets of an endpoint that count now. The first has to be there; the one that it replaces may be gone.
pub async fn secrets<F: Future<Output = Result<Secret>>>(
    endpoint: &Endpoint,
    now: Timestamp,
    read: impl Fn(CredentialRef) -> F,
) -> Result<Vec<Secret>> {
    let mut references = endpoint.secrets(now).into_iter().map(CredentialRef::parse);
    let Some(first) = references.next() else { return Ok(Vec::new()) };
    let mut secrets = vec![read(first?).await?];
    for previous in references {
        let found = match previous {
            Ok(reference) => read(reference).await,
            Err(error) => Err(error),
        };
        match found {
            Ok(secret) => secrets.push(secret),
            Err(error) => tracing::warn!("the previous secret of {} is left out: {error}", endpoint.name),
        }
    }
    Ok(secrets)
}

/// The keys that sign, the first in any case; one that it replaces may be of another form.
fn keys(secrets: &[Secret]) -> Result<Vec<SigningKey>> {
    let Some((first, previous)) = secrets.split_first() else { return Ok(Vec::new()) };
    let previous = previous.iter().filter_map(|secret| SigningKey::parse(secret).ok());
    Ok(std::iter::once(SigningKey::parse(first)?).chain(previous).collect())
}

/// One attempt: signed with the time of now, sent once, followed nowhere.
pub async fn attempt(
    transport: &Transport,
    redactor: &Redactor,
    url: &str,
    id: &str,
    message: &Message,
    secrets: &[Secret],
    now: Timestamp,
) -> Result<Tried> {
    let keys = keys(secrets)?;
    let seconds = now.0.div_euclid(1_000);
    let signature = signatures(&keys, id, seconds, message.body.as_bytes())?;
    let mut request = transport
        .request(Method::POST, url)
        .hosts(Hosts::AnyPublic)
        .provider("webhook")
        .operation("deliver")
        .publish()
        .no_retry()
        .hands_throttles_on()
        .timeout(ATTEMPT)
        .deadline(ATTEMPT)
        .max_body_bytes(ANSWER_READ_MAX)
        .header("webhook-id", id)
        .header("webhook-timestamp", &seconds.to_string())
        .header("webhook-signature", &signature)
        .header("user-agent", concat!("loom/", env!("CARGO_PKG_VERSION")));
    let mut kind = "application/json";
    for (name, value) in &message.headers {
        match name.as_str() {
            "content-type" => kind = value,
            name => request = request.header(name, value),
        }
    }
    Ok(match Box::pin(request.body(kind, message.body.clone().into_bytes()).send_any_status()).await {
        Ok(response) => {
            let text = String::from_utf8_lossy(response.bytes());
            let answer = redactor.redact(prefix(&text, ANSWER_BYTES_MAX), Profile::Store).into_owned();
            let after = response.header("retry-after").and_then(|text| text.trim().parse::<i64>().ok());
            Tried {
                status: Some(response.status()),
                retry_after_ms: after.filter(|after| *after >= 0).map(|after| after.saturating_mul(1_000)),
                error: None,
                answer: Some(answer).filter(|answer| !answer.is_empty()),
            }
        }
        Err(error) => Tried {
            status: error.http_status,
            retry_after_ms: error.retry_after_ms.and_then(|ms| i64::try_from(ms).ok()),
            error: Some(error.code),
            answer: None,
        },
    })
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use loom_domain::webhook::check_name;

    use super::*;

    fn endpoint(envelope: Envelope) -> Endpoint {
        check_name("hooks").unwrap();
        Endpoint {
            name: "hooks".to_owned(),
            seq: 1,
            url: "https://hooks.example/in".to_owned(),
            secret_ref: "env:A".to_owned(),
            previous_secret_ref: None,
            previous_until: None,
            event_types: vec!["a.b".to_owned()],
            envelope,
            scheme: "standard".to_owned(),
            enabled: true,
            disabled_reason: None,
            failing_since: None,
            created_at: Timestamp(0),
            updated_at: Timestamp(0),
            version: 1,
        }
    }

    #[test]
    fn envelopes_have_their_forms() {
        let of =
            |envelope| message(&endpoint(envelope), "msg1", "a.b", &json!({"n": 1}), Timestamp(0)).unwrap();
        let standard: Value = serde_json::from_str(&of(Envelope::Standard).body).unwrap();
        assert_eq!(
            standard,
            json!({"type": "a.b", "timestamp": "1970-01-01T00:00:00.000Z", "data": {"n": 1}})
        );
        let cloud = of(Envelope::Cloudevents);
        let body: Value = serde_json::from_str(&cloud.body).unwrap();
        assert_eq!(
            (&body["specversion"], &body["id"], &body["data"]),
            (&json!("1.0"), &json!("msg1"), &json!({"n": 1}))
        );
        assert_eq!(cloud.headers[0].1, "application/cloudevents+json");
        let binary = of(Envelope::CloudeventsBinary);
        assert_eq!(binary.body, "{\"n\":1}");
        assert!(binary.headers.contains(&("ce-specversion".to_owned(), "1.0".to_owned())));
        let other = message(&endpoint(Envelope::Standard), "msg1", "c.d", &Value::Null, Timestamp(0));
        assert_eq!(other.unwrap_err().detail["pointer"], "/type");
        let large = json!("x".repeat(BODY_BYTES_MAX));
        assert!(message(&endpoint(Envelope::Standard), "msg1", "a.b", &large, Timestamp(0)).is_err());
    }

    /// CAP-110: during a rotation the new secret is needed, and the old one signs along as far as it can be read.
    #[tokio::test]
    async fn cap_110_a_previous_secret_that_is_gone_is_left_out() {
        let [new, old] = [7, 8].map(|byte| format!("whsec_{}", STANDARD.encode([byte; 24])));
        let [new, old] = [new.as_str(), old.as_str()];
        let mut rotating = endpoint(Envelope::Standard);
        rotating.previous_secret_ref = Some("env:B".to_owned());
        rotating.previous_until = Some(Timestamp(10));
        for (present, wanted) in [
            (vec!["env:A", "env:B"], Some(vec![new, old])),
            (vec!["env:A"], Some(vec![new])),
            (vec!["env:B"], None),
        ] {
            let read = |reference: CredentialRef| {
                let reference = reference.to_string();
                let value = if reference == "env:A" { new } else { old };
                let found = present.contains(&reference.as_str()).then(|| Secret::new(value));
                std::future::ready(found.ok_or_else(|| Error::new(Code::CredentialUnavailable, "gone")))
            };
            let found = secrets(&rotating, Timestamp(0), read).await.ok();
            let found = found.as_deref().map(|all| all.iter().map(Secret::expose).collect::<Vec<_>>());
            assert_eq!(found, wanted, "{present:?}");
        }
        let count = |all: [&str; 2]| keys(&all.map(Secret::new)).ok().map(|keys| keys.len());
        assert_eq!((count([new, old]), count([new, "x"]), count(["x", new])), (Some(2), Some(1), None));
    }

    #[test]
    fn only_this_machine_is_an_origin_of_its_own() {
        assert_eq!(own_origins("http://127.0.0.1:9/in?x"), ["http://127.0.0.1:9"]);
        for url in ["https://hooks.example/in", "http://10.0.0.1/", "http://localhost.evil.example/", "x"] {
            assert!(own_origins(url).is_empty(), "{url}");
        }
    }
}
