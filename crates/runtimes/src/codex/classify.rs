//! What codex's errors mean. Request errors carry one of two codes, so their text decides.

use serde_json::Value;

use crate::{ErrClass, Redact, RuntimeError};

/// Longest message kept, in characters.
const MESSAGE_CHARS_MAX: usize = 500;

/// The class of a failed request.
pub(super) fn request(message: &str, redact: &Redact) -> RuntimeError {
    let lower = message.to_lowercase();
    let has = |part: &str| lower.contains(part);
    // A thread without a message has no record to lose or to read ("not materialized yet").
    let lost = ["no rollout found", "thread not loaded", "thread not found", "is not materialized yet"];
    // Its file is made before anything is written to it: a kill between the two leaves it empty, and nothing to resume.
    let is_empty = has("rollout at") && has("is empty");
    let class = if is_empty || lost.into_iter().any(has) {
        ErrClass::ThreadLost
    } else if has("already has an active writer") {
        ErrClass::WriterLocked
    } else if has("not initialized") || has("already initialized") || has("unknown variant") {
        ErrClass::Protocol
    } else {
        ErrClass::BadRequest
    };
    RuntimeError::new(class, short(message, redact))
}

/// The class of a Turn that failed.
pub(super) fn model(error: &Value, redact: &Redact) -> RuntimeError {
    let message = error.get("message").and_then(Value::as_str).unwrap_or("the model call failed");
    let info = error.get("codexErrorInfo").unwrap_or(&Value::Null);
    let (class, http) = match info {
        Value::String(word) => (by_word(word, message), None),
        Value::Object(map) => by_status(map.values().next()),
        _ => (ErrClass::ModelStream, None),
    };
    RuntimeError::new(class, short(message, redact)).with_http(http)
}

fn by_word(word: &str, message: &str) -> ErrClass {
    match word {
        "internalServerError" | "serverOverloaded" | "flexUnavailable" | "policyCapacityUnavailable" => {
            ErrClass::Overloaded
        }
        "rateLimitExceeded" | "usageLimitExceeded" | "sessionBudgetExceeded" => ErrClass::RateLimit,
        "unauthorized" => ErrClass::Auth,
        // "other" covers a refused request (its message is the provider's JSON) and a stream that broke off.
        "other" if message.starts_with("stream disconnected") => ErrClass::ModelStream,
        _ => ErrClass::BadRequest,
    }
}

fn by_status(inner: Option<&Value>) -> (ErrClass, Option<u16>) {
    let status = inner.and_then(|inner| inner.get("httpStatusCode")).and_then(Value::as_u64);
    let status = status.and_then(|status| u16::try_from(status).ok());
    let class = match status {
        Some(401 | 403) => ErrClass::Auth,
        Some(429) => ErrClass::RateLimit,
        Some(400..500) => ErrClass::BadRequest,
        Some(500..) => ErrClass::Overloaded,
        Some(_) | None => ErrClass::ModelStream,
    };
    (class, status)
}

fn short(message: &str, redact: &Redact) -> String {
    redact(message).chars().take(MESSAGE_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn class(info: &Value, message: &str) -> (ErrClass, Option<u16>, bool) {
        let redact: Redact = Arc::new(str::to_owned);
        let error = model(&json!({"codexErrorInfo": info, "message": message}), &redact);
        (error.class, error.http, error.retryable)
    }

    #[test]
    fn rt_15_model_errors_have_a_class() {
        let too_many = json!({"responseTooManyFailedAttempts": {"httpStatusCode": 429}});
        assert_eq!(class(&too_many, ""), (ErrClass::RateLimit, Some(429), true));
        let refused = json!({"httpConnectionFailed": {"httpStatusCode": 401}});
        assert_eq!(class(&refused, ""), (ErrClass::Auth, Some(401), false));
        assert_eq!(class(&json!("internalServerError"), ""), (ErrClass::Overloaded, None, true));
        assert_eq!(class(&json!("other"), "{\"error\":{}}"), (ErrClass::BadRequest, None, false));
        let cut = "stream disconnected before completion: x";
        assert_eq!(class(&json!("other"), cut), (ErrClass::ModelStream, None, true));
        let down = json!({"httpConnectionFailed": {"httpStatusCode": null}});
        assert_eq!(class(&down, ""), (ErrClass::ModelStream, None, true));
        assert_eq!(class(&json!("somethingNew"), ""), (ErrClass::BadRequest, None, false));
    }

    #[test]
    fn request_errors_are_read_by_their_text_and_redacted() {
        let redact: Redact = Arc::new(|text: &str| text.replace("s3cret", "[redacted]"));
        let of = |text: &str| request(text, &redact);
        assert_eq!(of("no rollout found for thread id x").class, ErrClass::ThreadLost);
        let empty =
            "failed to read thread: failed to read session metadata r.jsonl: rollout at r.jsonl is empty";
        assert_eq!(of(empty).class, ErrClass::ThreadLost);
        assert_eq!(of("thread x is not materialized yet; y").class, ErrClass::ThreadLost);
        assert_eq!(of("thread x already has an active writer").class, ErrClass::WriterLocked);
        assert_eq!(of("Not initialized").class, ErrClass::Protocol);
        assert_eq!(of("bad s3cret").message, "bad [redacted]");
    }
}
