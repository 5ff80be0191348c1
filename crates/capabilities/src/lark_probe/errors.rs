//! Codes of the platform as codes of the closed list.

use loom_domain::{Code, Error, Result};
use loom_transport::Response;
use serde_json::Value;

/// Longest wait that is told, milliseconds: a day.
const RETRY_AFTER_MS_MAX: u64 = 86_400_000;
/// Wait after a throttle that does not say how long.
const THROTTLE_MS: u64 = 60_000;
/// Characters of the platform's own words.
const MESSAGE_CHARS: usize = 300;

const THROTTLED: &[i64] = &[99_991_400, 230_020, 11_232, 11_233, 1_000_004, 1_000_005];
const QUOTA: i64 = 99_991_403;
const TOKEN_ENDED: &[i64] = &[99_991_661, 99_991_663, 99_991_664, 99_991_665, 99_991_671];
const AUTH: &[i64] = &[
    10_003, 10_014, 10_015, 99_991_401, 99_991_543, 99_991_662, 99_991_668, 99_991_673, 99_991_677, 232_034,
];
const SCOPE: &[i64] = &[99_991_672, 99_991_676, 99_991_679, 230_027];
const OUTSIDE: &[i64] = &[230_002, 232_011];
const GONE: &[i64] = &[230_011, 230_110, 231_003];

/// The body of a success; else what the answer means.
pub(super) fn judge(response: &Response) -> Result<Value> {
    let status = response.status();
    let body: Option<Value> = response.json().ok();
    let code = body.as_ref().and_then(|body| body.get("code")?.as_i64());
    match (status, code, body) {
        (200..=299, Some(0), Some(body)) => Ok(body),
        (200..=299, None, _) => Err(unreadable()),
        (_, code, body) => Err(refusal(response, code, body.as_ref())),
    }
}

fn refusal(response: &Response, code: Option<i64>, body: Option<&Value>) -> Error {
    let status = response.status();
    let message = body.and_then(|body| body.get("msg")?.as_str()).unwrap_or_default();
    let mut error = match code {
        _ if status == 429 => throttled(response),
        Some(code) => of_code(code, message, response),
        None => http(if status >= 500 { "server" } else { "client_other" }, status),
    };
    error.http_status = Some(status);
    error.provider = Some("lark".to_owned());
    error.request_id = Some(response.meta().request_id.clone());
    if let Some(code) = code {
        error = error.with_detail("provider_code", code);
    }
    if let Some(log_id) = response.header("x-tt-logid") {
        error = error.with_detail("provider_request_id", log_id);
    }
    match message.is_empty() {
        true => error,
        false => {
            error.with_detail("provider_message", message.chars().take(MESSAGE_CHARS).collect::<String>())
        }
    }
}

fn of_code(code: i64, message: &str, response: &Response) -> Error {
    let status = response.status();
    match code {
        code if THROTTLED.contains(&code) => throttled(response),
        QUOTA => Error::new(Code::ProviderQuotaExhausted, "the app's quota of the month is used up"),
        code if TOKEN_ENDED.contains(&code) => {
            Error::new(Code::ProviderAuthError, "the platform refused the token").with_detail("token", true)
        }
        code if AUTH.contains(&code) => Error::new(Code::ProviderAuthError, "the platform refused the app"),
        code if SCOPE.contains(&code) => {
            let scopes = scopes_in(message);
            let names =
                if scopes.is_empty() { "the scope that is missing".to_owned() } else { scopes.join(", ") };
            http("permission", status)
                .with_hint(format!("add {names} to the app, and publish a new version of it"))
                .with_detail("needed", scopes)
        }
        code if OUTSIDE.contains(&code) => http("permission", status).with_hint("add the bot to the chat"),
        code if GONE.contains(&code) => http("gone", status),
        _ if status == 404 => http("not_found", status),
        _ if status >= 500 => http("server", status),
        _ => http("bad_request", status),
    }
}

/// Whether a new token may help.
pub(super) fn is_of_token(error: &Error) -> bool {
    error.detail.get("token").and_then(Value::as_bool).unwrap_or(false)
}

/// An answer that is none of the platform.
pub(super) fn unreadable() -> Error {
    let mut error = Error::new(Code::ProviderProtocolError, "the answer is not one of the platform")
        .with_detail("phase", "receive");
    error.provider = Some("lark".to_owned());
    error
}

fn http(kind: &str, status: u16) -> Error {
    Error::new(Code::ProviderHttpError, format!("the platform answered with status {status}"))
        .with_detail("kind", kind)
}

fn throttled(response: &Response) -> Error {
    let seconds = response.header("x-ogw-ratelimit-reset").and_then(|text| text.trim().parse::<u64>().ok());
    let wait = seconds.map_or(THROTTLE_MS, |seconds| seconds.saturating_mul(1_000)).min(RETRY_AFTER_MS_MAX);
    let mut error = Error::new(Code::ProviderRateLimited, "the platform asks to wait");
    error.retry_after_ms = Some(wait);
    error
}

/// Words of a message that are scopes, such as `im:message:readonly`.
fn scopes_in(message: &str) -> Vec<String> {
    let is_scope = |word: &&str| {
        word.contains(':')
            && word.len() <= 64
            && word.split(':').all(|part| {
                !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'_' | b'.'))
            })
    };
    let words = message.split(|c: char| !(c.is_ascii_lowercase() || matches!(c, ':' | '_' | '.')));
    let mut scopes: Vec<String> = words.filter(is_scope).map(str::to_owned).collect();
    scopes.dedup();
    scopes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_read_out_of_the_platforms_words() {
        let words =
            "Access denied. One of the following scopes is required: [im:message, im:message:readonly].";
        assert_eq!(scopes_in(words), ["im:message", "im:message:readonly"]);
        assert!(scopes_in("no permission: ask http://x").is_empty());
    }
}
