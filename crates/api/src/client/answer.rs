//! Reads an answer: its bytes, or the error object it carries.

use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use loom_domain::{Code, Error, Result};
use serde_json::Value;
use tokio::time::timeout;

/// Largest answer that is read, bytes.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

pub(super) async fn read(response: Response<Incoming>, limit: Duration) -> Result<Bytes> {
    let status = response.status().as_u16();
    let body = match timeout(limit, Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect()).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) => {
            return Err(Error::new(Code::HubUnreachable, "the hub's answer broke off")
                .with_detail("cause", error.to_string()));
        }
        Err(_) => return Err(Error::new(Code::DeadlineExceeded, "the hub's answer did not end in time")),
    };
    match status {
        200..=299 => Ok(body),
        _ => Err(refusal(status, &body)),
    }
}

/// The error object of a problem+json body; a foreign body becomes an error with the status.
fn refusal(status: u16, body: &[u8]) -> Error {
    let Ok(problem) = serde_json::from_slice::<Value>(body) else { return foreign(status) };
    if let Ok(error) = serde_json::from_value::<Error>(problem.clone()) {
        return error;
    }
    let text = |key: &str| problem.get(key).and_then(Value::as_str);
    match text("code").and_then(Code::parse) {
        Some(code) => Error::new(code, text("message").or(text("title")).unwrap_or("refused")),
        None => foreign(status).with_detail("code", text("code").unwrap_or("").to_owned()),
    }
}

fn foreign(status: u16) -> Error {
    let code = match status {
        401 => Code::Unauthenticated,
        403 => Code::Forbidden,
        404 => Code::NotFound,
        405 => Code::MethodNotAllowed,
        408 => Code::RequestTimeout,
        413 => Code::TooLarge,
        429 => Code::RateLimited,
        503 => Code::HubUnreachable,
        _ => Code::ProtocolVersion,
    };
    Error::new(code, format!("the hub answered with status {status}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_gives_the_hubs_own_error() {
        let body =
            br#"{"type":"about:blank","title":"x","status":409,"code":"version_conflict","message":"changed",
            "retryable":false,"detail":{"current_version":4}}"#;
        let error = refusal(409, body);
        assert_eq!(error.code, Code::VersionConflict);
        assert_eq!(error.detail.get("current_version"), Some(&4.into()));
    }

    #[test]
    fn a_foreign_body_gives_the_status() {
        assert_eq!(refusal(404, b"<html>").code, Code::NotFound);
        assert_eq!(refusal(500, br#"{"code":"never_heard_of"}"#).code, Code::ProtocolVersion);
        assert_eq!(refusal(409, br#"{"code":"disabled"}"#).code, Code::Disabled);
    }
}
