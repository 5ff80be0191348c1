//! Webhooks: endpoints of the owner, and the schedule of deliveries to them (capability specification 4.6).

use serde::{Deserialize, Serialize};

use crate::{Code, Error, Timestamp, words};

/// Time before each attempt after the one before, milliseconds.
pub const STEPS_MS: [i64; 10] = [
    0,
    5_000,
    5 * 60_000,
    30 * 60_000,
    2 * 3_600_000,
    5 * 3_600_000,
    10 * 3_600_000,
    14 * 3_600_000,
    20 * 3_600_000,
    24 * 3_600_000,
];
/// Life of a delivery, milliseconds.
pub const TTL_MS: i64 = 80 * 3_600_000;
/// Failures of so long, and nothing else, switch an endpoint off, milliseconds.
pub const FAILING_MS: i64 = 120 * 3_600_000;
/// Shortest wait after an answer that asks for one, milliseconds.
pub const THROTTLED_MS: i64 = 60_000;
/// Time that the old key of an endpoint signs along, milliseconds.
pub const OVERLAP_MS: i64 = 24 * 3_600_000;
/// Time that the ids of inbound deliveries are remembered, milliseconds.
pub const REMEMBERED_MS: i64 = 48 * 3_600_000;
/// Bytes of a body that is sent.
pub const BODY_BYTES_MAX: usize = 256 * 1024;
/// Bytes of a body that receivers take without complaint.
pub const BODY_BYTES_USUAL: usize = 20 * 1024;
/// Bytes of an answer that are kept.
pub const ANSWER_BYTES_MAX: usize = 20_000;

words! {
    /// The form of what is sent.
    pub enum Envelope {
        /// `{type, timestamp, data}`.
        Standard = "standard",
        /// A `CloudEvent` as one document.
        Cloudevents = "cloudevents",
        /// A `CloudEvent` with its attributes as headers.
        CloudeventsBinary = "cloudevents-binary",
    }
}

words! {
    /// How far a delivery is.
    pub enum DeliveryState {
        /// It waits for its next attempt.
        Pending = "pending",
        /// A 2xx was answered.
        Delivered = "delivered",
        /// It was given up.
        Dead = "dead",
    }
}

/// An endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// Name; it is the route of inbound deliveries too.
    pub name: String,
    /// Order of commit.
    pub seq: u64,
    /// Where deliveries go.
    pub url: String,
    /// Reference of the signing secret.
    pub secret_ref: String,
    /// Reference of the secret before, which still counts until `previous_until`.
    pub previous_secret_ref: Option<String>,
    /// End of the overlap of both.
    pub previous_until: Option<Timestamp>,
    /// Types that may be sent; empty is every type.
    pub event_types: Vec<String>,
    /// Form of what is sent.
    pub envelope: Envelope,
    /// How inbound deliveries are verified: `standard`, `github` or `slack`.
    pub scheme: String,
    /// Whether it is used.
    pub enabled: bool,
    /// Why Loom switched it off.
    pub disabled_reason: Option<String>,
    /// Since when every attempt failed.
    pub failing_since: Option<Timestamp>,
    /// Creation.
    pub created_at: Timestamp,
    /// Last change.
    pub updated_at: Timestamp,
    /// Version.
    pub version: u64,
}

impl Endpoint {
    /// The references of the secrets that count now, the new one first.
    pub fn secrets(&self, now: Timestamp) -> Vec<&str> {
        let previous = self.previous_secret_ref.as_deref();
        let previous = previous.filter(|_| self.previous_until.is_some_and(|until| now < until));
        std::iter::once(self.secret_ref.as_str()).chain(previous).collect()
    }
}

/// Whether a text can name an endpoint.
pub fn check_name(name: &str) -> Result<(), Error> {
    let fits = (1..=48).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    match fits {
        true => Ok(()),
        false => Err(Error::invalid("name", "1 to 48 of a-z, 0-9 and -, with a letter or digit in front")),
    }
}

/// One delivery. Its body is the same in every attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The `webhook-id` of every attempt.
    pub id: String,
    /// Order of commit.
    pub seq: u64,
    /// Endpoint.
    pub endpoint: String,
    /// Type.
    pub event_type: String,
    /// Body.
    pub body: String,
    /// Digest of the data that was ordered; the body holds its time too. Absent in rows of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_sha256: Option<String>,
    /// Content type and further headers of the envelope.
    pub headers: Vec<(String, String)>,
    /// How far it is.
    pub state: DeliveryState,
    /// Attempts so far.
    pub attempts: u32,
    /// When the next one may begin.
    pub due_at: Timestamp,
    /// When it is given up.
    pub expires_at: Timestamp,
    /// Status of the last answer.
    pub last_status: Option<u16>,
    /// Code of the last failure.
    pub last_error: Option<String>,
    /// Beginning of the last answer, redacted.
    pub answer: Option<String>,
    /// Creation.
    pub created_at: Timestamp,
    /// Version.
    pub version: u64,
}

/// What an attempt came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tried {
    /// Status of the answer, if there was one.
    pub status: Option<u16>,
    /// `Retry-After`, milliseconds.
    pub retry_after_ms: Option<i64>,
    /// Code of the failure before any answer.
    pub error: Option<Code>,
    /// Beginning of the answer, redacted.
    pub answer: Option<String>,
}

impl Tried {
    /// Whether it was taken.
    pub fn is_delivered(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }

    /// Whether the receiver wants nothing any more.
    pub fn is_gone(&self) -> bool {
        self.status == Some(410)
    }

    fn asks_to_wait(&self) -> bool {
        matches!(self.status, Some(429 | 502..=504)) || self.error == Some(Code::ProviderTimeout)
    }
}

/// When the attempt after `attempts` failed ones is due; none when it is given up. `jitter` is in 0..=1.
pub fn next_due(attempts: u32, tried: &Tried, now: Timestamp, jitter: f64) -> Option<Timestamp> {
    let step = *STEPS_MS.get(usize::try_from(attempts).ok()?)?;
    let factor = 0.8 + 0.4 * jitter.clamp(0.0, 1.0);
    #[expect(clippy::cast_possible_truncation, reason = "a day in milliseconds fits")]
    #[expect(clippy::cast_precision_loss, reason = "a day in milliseconds is exact")]
    let mut wait = (step as f64 * factor) as i64;
    if tried.asks_to_wait() {
        wait = wait.max(THROTTLED_MS);
    }
    if let Some(asked) = tried.retry_after_ms {
        wait = wait.max(asked.min(step.max(THROTTLED_MS) * 2));
    }
    Some(now.plus_ms(wait))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: u16) -> Tried {
        Tried { status: Some(status), ..Tried::default() }
    }

    /// CAP-111: ten attempts at the steps of the specification, with jitter and the waits that are asked for.
    #[test]
    fn cap_111_attempts_follow_the_schedule() {
        let now = Timestamp(0);
        let waits: Vec<i64> =
            (1..10).map(|attempts| next_due(attempts, &answered(500), now, 0.5).unwrap().0).collect();
        assert_eq!(waits, STEPS_MS[1..]);
        assert_eq!(next_due(10, &answered(500), now, 0.5), None);
        assert_eq!(next_due(2, &answered(500), now, 0.0), Some(Timestamp(240_000)));
        assert_eq!(next_due(2, &answered(500), now, 1.0), Some(Timestamp(360_000)));
        for status in [429, 502, 503, 504] {
            assert_eq!(next_due(1, &answered(status), now, 0.5), Some(Timestamp(60_000)), "{status}");
        }
        let timeout = Tried { error: Some(Code::ProviderTimeout), ..Tried::default() };
        assert_eq!(next_due(1, &timeout, now, 0.5), Some(Timestamp(60_000)));
        let later = |ms| Tried { retry_after_ms: Some(ms), ..answered(503) };
        assert_eq!(next_due(2, &later(400_000), now, 0.5), Some(Timestamp(400_000)));
        assert_eq!(
            next_due(2, &later(86_400_000), now, 0.5),
            Some(Timestamp(600_000)),
            "at most twice the step"
        );
        assert!(STEPS_MS.iter().sum::<i64>() < TTL_MS);
    }

    #[test]
    fn names_are_names() {
        for good in ["hooks", "a-1", "1x"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", "-a", "A", "a_b", "a/b", "..", &"x".repeat(49)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
