//! GitHub's refusals as codes of the closed list (capabilities specification 6.5).

use loom_domain::{Code, Error, Timestamp};
use loom_transport::Response;
use serde_json::Value;

/// Longest wait that is told, milliseconds: a day.
const RETRY_AFTER_MS_MAX: u64 = 86_400_000;
/// Wait after a throttle that does not say how long.
const THROTTLE_MS: u64 = 60_000;
/// Characters of the provider's own words.
const MESSAGE_CHARS: usize = 500;

/// The error of an answer that is no success.
pub(super) fn of_answer(response: &Response, now: Timestamp) -> Error {
    let message =
        response.json::<Value>().ok().and_then(|body| Some(body.get("message")?.as_str()?.to_owned()));
    let message = message.unwrap_or_default();
    let mut error = judge(response.status(), |name| response.header(name), &message, now);
    error.http_status = Some(response.status());
    error.provider = Some("github".to_owned());
    error.request_id = Some(response.meta().request_id.clone());
    error.attempts = Some(response.meta().attempts);
    if message.is_empty() {
        return error;
    }
    error.with_detail("provider_message", message.chars().take(MESSAGE_CHARS).collect::<String>())
}

fn judge<'a>(status: u16, header: impl Fn(&str) -> Option<&'a str>, message: &str, now: Timestamp) -> Error {
    if let Some(throttle) = throttle(status, &header, message, now) {
        return throttle.error();
    }
    let http = |kind: &str| {
        Error::new(Code::ProviderHttpError, format!("GitHub answered with status {status}"))
            .with_detail("kind", kind)
    };
    match status {
        401 => Error::new(Code::ProviderAuthError, "GitHub refused the credential"),
        403 if header("x-github-sso").is_some() => {
            Error::new(Code::ProviderAuthError, "the token is not authorised for single sign-on")
                .with_hint("authorise the token for the organisation in GitHub's settings")
                .with_detail("sso_required", true)
        }
        400 => http("bad_request"),
        403 => http("permission"),
        404 => http("not_found").with_detail("maybe_private", true),
        409 => http("conflict"),
        410 => http("gone"),
        422 => http("validation"),
        451 => http("legal"),
        402 | 405..=408 | 411..=421 | 423..=450 | 452..500 => http("client_other"),
        _ => http("server"),
    }
}

/// A refusal because of a limit. GitHub's primary limit counts requests in a window; its secondary limits guard the
/// service, and the answer need not say how long to wait («Rate limits for the REST API», «Exceeding the rate limit»).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Throttle {
    primary: bool,
    wait_ms: Option<u64>,
}

impl Throttle {
    fn error(self) -> Error {
        let mut error = Error::new(Code::ProviderRateLimited, "GitHub asks to wait")
            .with_detail("limit", if self.primary { "primary" } else { "secondary" })
            .with_detail("wait", if self.wait_ms.is_some() { "told" } else { "guessed" });
        error.retry_after_ms = Some(self.wait_ms.unwrap_or(THROTTLE_MS).min(RETRY_AFTER_MS_MAX));
        error
    }
}

/// How long to wait, when the answer is a throttle.
fn throttle<'a>(
    status: u16,
    header: &impl Fn(&str) -> Option<&'a str>,
    message: &str,
    now: Timestamp,
) -> Option<Throttle> {
    if !matches!(status, 403 | 429) {
        return None;
    }
    let number = |name: &str| header(name).and_then(|text| text.trim().parse::<u64>().ok());
    let asked = number("retry-after").map(|seconds| seconds.saturating_mul(1_000));
    let until_reset = number("x-ratelimit-reset")
        .map(|reset| reset.saturating_mul(1_000).saturating_sub(u64::try_from(now.0).unwrap_or(0)));
    let used_up = number("x-ratelimit-remaining") == Some(0);
    let secondary = message.to_ascii_lowercase().contains("secondary rate limit");
    match (asked, used_up) {
        (_, true) => Some(Throttle { primary: true, wait_ms: asked.or(until_reset) }),
        (Some(_), false) => Some(Throttle { primary: false, wait_ms: asked }),
        (None, false) => (status == 429 || secondary).then_some(Throttle { primary: false, wait_ms: None }),
    }
}

/// The error of a query that was answered with errors.
pub(super) fn of_query(first: &Value, response: &Response, now: Timestamp) -> Error {
    let text = |key: &str| first.get(key).and_then(Value::as_str).unwrap_or_default();
    let error = match text("type") {
        "NOT_FOUND" => Error::new(Code::ProviderHttpError, "GitHub knows no such object")
            .with_detail("kind", "not_found")
            .with_detail("maybe_private", true),
        "FORBIDDEN" | "INSUFFICIENT_SCOPES" => {
            Error::new(Code::ProviderHttpError, "the token may not read this")
                .with_detail("kind", "permission")
        }
        "RATE_LIMITED" => used_up(response, now),
        _ => Error::new(Code::ProviderProtocolError, "GitHub did not answer the query"),
    };
    let mut error = error
        .with_detail("provider_message", text("message").chars().take(MESSAGE_CHARS).collect::<String>());
    error.http_status = Some(response.status());
    error.provider = Some("github".to_owned());
    error.request_id = Some(response.meta().request_id.clone());
    error
}

/// The primary limit of the GraphQL API, which is told with status 200.
fn used_up(response: &Response, now: Timestamp) -> Error {
    let header = |name: &str| match name {
        "x-ratelimit-remaining" => Some("0"),
        _ => response.header(name),
    };
    let throttle = throttle(403, &header, "", now);
    throttle.unwrap_or(Throttle { primary: true, wait_ms: None }).error()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        status: u16,
        headers: &[(&str, &'static str)],
        message: &str,
    ) -> (Code, Option<String>, Option<u64>) {
        let header = |name: &str| headers.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let error = judge(status, header, message, Timestamp(1_000_000));
        (error.code, error.detail["kind"].as_str().map(str::to_owned), error.retry_after_ms)
    }

    /// CAP-085: each refusal has its code.
    #[test]
    fn cap_085_refusals_map_to_codes() {
        let http = |kind: &str| (Code::ProviderHttpError, Some(kind.to_owned()), None);
        assert_eq!(check(401, &[], ""), (Code::ProviderAuthError, None, None));
        assert_eq!(
            check(403, &[("x-github-sso", "required; url=x")], ""),
            (Code::ProviderAuthError, None, None)
        );
        for (status, kind) in [
            (403, "permission"),
            (404, "not_found"),
            (410, "gone"),
            (422, "validation"),
            (451, "legal"),
            (418, "client_other"),
            (500, "server"),
        ] {
            assert_eq!(check(status, &[], "no"), http(kind), "{status}");
        }
    }

    /// CAP-084: used-up and secondary limits tell how long to wait.
    #[test]
    fn cap_084_throttles_tell_how_long() {
        let limited = |ms| (Code::ProviderRateLimited, None, Some(ms));
        let used_up = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1060")];
        assert_eq!(check(403, &used_up, ""), limited(60_000));
        assert_eq!(check(429, &[("retry-after", "7")], ""), limited(7_000));
        assert_eq!(check(403, &[], "You have exceeded a secondary rate limit."), limited(60_000));
        assert_eq!(check(429, &[], ""), limited(60_000));
    }
}
