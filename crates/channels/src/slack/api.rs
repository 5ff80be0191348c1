//! The Web API: one call, one answer, one class of fault.

mod pacer;

use std::time::Duration;

use serde_json::Value;

use super::errors::{Effect, classify, is_success, transport_fault};
use super::http::{Http, Reply, Token};
use super::wire::text;
use crate::{Fault, FaultClass};
use pacer::Pacer;

/// Wait when a rate limit names none, seconds.
const RETRY_AFTER_DEFAULT_S: u64 = 30;
/// Longest wait that is believed, seconds.
const RETRY_AFTER_MAX_S: u64 = 3_600;
/// A read waits this long for its turn; a publish does not wait, it reports.
const READ_PATIENCE: Duration = Duration::from_secs(5);
/// Longest error code that is kept.
const CODE_BYTES_MAX: usize = 64;

/// A successful answer.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    /// Body.
    pub(super) body: Value,
    /// Scopes of the token, when the answer names them.
    pub(super) scopes: Vec<String>,
}

/// The methods of one Connection with their queues.
#[derive(Debug)]
pub(super) struct WebApi {
    http: Http,
    pacer: Pacer,
}

impl WebApi {
    pub(super) fn new(http: Http) -> Self {
        WebApi { http, pacer: Pacer::default() }
    }

    pub(super) fn http(&self) -> &Http {
        &self.http
    }

    /// Calls a method once. `params` is an object.
    pub(super) async fn call(
        &self,
        method: &'static str,
        params: Value,
        effect: Effect,
    ) -> Result<Answer, Fault> {
        let patience = if effect == Effect::Publish { Duration::ZERO } else { READ_PATIENCE };
        self.pacer.admit(method, patience).await.map_err(|wait| limited(method, wait))?;
        let token = if method == "apps.connections.open" { Token::App } else { Token::Bot };
        let reply = if method.starts_with("chat.") {
            self.http.post_json(method, token, params).await
        } else {
            self.http.post_form(method, token, form(&params)).await
        };
        let reply = reply.map_err(|fault| {
            transport_fault(fault.code, format!("{method}: {}", fault.message), fault.written, effect)
        })?;
        self.read(method, &reply, effect)
    }

    /// Calls a method that changes nothing people see.
    pub(super) async fn read_call(&self, method: &'static str, params: Value) -> Result<Answer, Fault> {
        self.call(method, params, Effect::None).await
    }

    fn read(&self, method: &'static str, reply: &Reply, effect: Effect) -> Result<Answer, Fault> {
        match reply.status {
            200 => {}
            429 => return Err(self.pause(method, reply.retry_after_s)),
            status => {
                let message = format!("{method}: HTTP status {status}");
                return Err(transport_fault("http_status", message, true, effect));
            }
        }
        let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        match (body.get("ok").and_then(Value::as_bool), text(&body, "error")) {
            (Some(true), _) => Ok(Answer { body, scopes: reply.scopes.clone() }),
            (Some(false), Some(code)) if is_success(code) => {
                Ok(Answer { body, scopes: reply.scopes.clone() })
            }
            (Some(false), code) => {
                let code = code.unwrap_or("no_error_code").to_owned();
                Err(self.refused(method, &code, &body, reply, effect))
            }
            (None, _) => Err(transport_fault(
                "unreadable",
                format!("{method}: the answer is unreadable"),
                true,
                effect,
            )),
        }
    }

    fn refused(
        &self,
        method: &'static str,
        code: &str,
        body: &Value,
        reply: &Reply,
        effect: Effect,
    ) -> Fault {
        let class = classify(code, effect);
        if class == FaultClass::RateLimited {
            return self.pause(method, reply.retry_after_s);
        }
        let needed =
            text(body, "needed").map(|scopes| format!(" (needs {})", plain(scopes))).unwrap_or_default();
        let code = plain(code);
        Fault::new(class, code.clone(), format!("{method}: {code}{needed}"))
    }

    fn pause(&self, method: &'static str, retry_after_s: Option<u64>) -> Fault {
        let wait =
            Duration::from_secs(retry_after_s.unwrap_or(RETRY_AFTER_DEFAULT_S).clamp(1, RETRY_AFTER_MAX_S));
        self.pacer.pause(method, wait);
        limited(method, wait)
    }
}

fn limited(method: &'static str, wait: Duration) -> Fault {
    let mut fault = Fault::new(FaultClass::RateLimited, "ratelimited", format!("{method}: rate limited"));
    fault.retry_after_ms = Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    fault.scope = Some(method.to_owned());
    fault
}

/// Text members as they are, everything else as JSON.
fn form(params: &Value) -> Vec<(String, String)> {
    let members = params.as_object().into_iter().flatten();
    members
        .filter(|(_, value)| !value.is_null())
        .map(|(key, value)| (key.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
        .collect()
}

/// A provider word with nothing in it that could mislead a log.
fn plain(word: &str) -> String {
    word.chars().filter(|c| c.is_ascii_alphanumeric() || "_-.:, ".contains(*c)).take(CODE_BYTES_MAX).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn forms_carry_objects_as_json() {
        let pairs = form(&json!({"a": "x", "files": [{"id": "F1"}], "n": 5, "none": null}));
        let want = [("a", "x"), ("files", r#"[{"id":"F1"}]"#), ("n", "5")];
        assert_eq!(pairs, want.map(|(k, v)| (k.to_owned(), v.to_owned())));
        assert_eq!(plain("bad\ncode<x>"), "badcodex");
    }
}
