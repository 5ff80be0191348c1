//! The Open API: one call, one answer, one class of fault.

use loom_secrets::Secret;
use loom_transport::Method;
use serde_json::{Value, json};

use super::errors::{Effect, Endpoint, Refusal, ends_token, transport_fault};
use super::http::{Ask, Content, Http, Reply};
use super::token::Tokens;
use super::wire::text;
use crate::{Fault, FaultClass};

/// Path of the token exchange.
const TOKEN_PATH: &str = "auth/v3/tenant_access_token/internal";

/// A call with what an answer to it would mean.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) ask: Ask,
    pub(super) endpoint: Endpoint,
    pub(super) effect: Effect,
}

impl Call {
    /// A call that shows nothing to people.
    pub(super) fn quiet(operation: &'static str, method: Method, path: impl Into<String>) -> Self {
        let ask = Ask {
            method,
            path: path.into(),
            query: Vec::new(),
            content: Content::Nothing,
            chat: None,
            operation,
        };
        Call { ask, endpoint: Endpoint::Other, effect: Effect::None }
    }

    /// A read.
    pub(super) fn get(operation: &'static str, path: impl Into<String>) -> Self {
        Call::quiet(operation, Method::GET, path)
    }

    pub(super) fn query(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.ask.query.push((name, value.into()));
        self
    }

    pub(super) fn json(mut self, body: Value) -> Self {
        self.ask.content = Content::Json(body);
        self
    }
}

/// The calls of one app.
pub(super) struct Api {
    http: Http,
    app_id: String,
    app_secret: Secret,
    tokens: Tokens,
}

impl Api {
    pub(super) fn new(http: Http, app_id: String, app_secret: Secret) -> Self {
        Api { http, app_id, app_secret, tokens: Tokens::default() }
    }

    /// Makes a call. A token that has ended was refused before anything was done, so it is renewed once.
    pub(super) async fn call(&self, call: &Call) -> Result<Value, Fault> {
        let reply = self.answered(call).await?;
        judge(call, &reply)
    }

    /// Makes a call whose answer is a file.
    pub(super) async fn download(&self, call: &Call) -> Result<Reply, Fault> {
        let reply = self.answered(call).await?;
        match (reply.status, reply.content_type.starts_with("application/json")) {
            (200..=299, false) => Ok(reply),
            // A JSON file is one too; an envelope that refuses says so with its code.
            (200..=299, true) => judge(call, &reply).map(|_| ()).map_or_else(
                |fault| if fault.code == "unreadable" { Ok(reply) } else { Err(fault) },
                |()| Err(Fault::new(FaultClass::Permanent, "no_file", "the platform gave no file")),
            ),
            _ => Err(judge(call, &reply).err().unwrap_or_else(|| unreadable(call))),
        }
    }

    async fn answered(&self, call: &Call) -> Result<Reply, Fault> {
        let token = self.tokens.get(None, self.exchange()).await?;
        let reply = self.once(call, Some(&token)).await?;
        if !code(&reply).is_some_and(ends_token) {
            return Ok(reply);
        }
        let renewed = self.tokens.get(Some(&token), self.exchange()).await?;
        self.once(call, Some(&renewed)).await
    }

    async fn once(&self, call: &Call, token: Option<&Secret>) -> Result<Reply, Fault> {
        self.http.send(&call.ask, token).await.map_err(|fault| {
            let message = format!("{}: {}", call.ask.operation, fault.message);
            transport_fault(fault.code, message, fault.written, call.effect)
        })
    }

    /// A new token with its life in seconds.
    async fn exchange(&self) -> Result<(Secret, u64), Fault> {
        let body = json!({"app_id": self.app_id, "app_secret": self.app_secret.expose()});
        let mut call = Call::quiet("token", Method::POST, TOKEN_PATH).json(body);
        call.endpoint = Endpoint::Token;
        let reply = self.once(&call, None).await?;
        let body = judge(&call, &reply)?;
        match (text(&body, "tenant_access_token"), body.get("expire").and_then(Value::as_u64)) {
            (Some(token), Some(life_s)) => Ok((Secret::new(token), life_s)),
            _ => Err(unreadable(&call)),
        }
    }
}

fn code(reply: &Reply) -> Option<i64> {
    let body: Value = serde_json::from_slice(&reply.bytes).ok()?;
    body.get("code")?.as_i64()
}

/// The body of a success; else what the answer means.
fn judge(call: &Call, reply: &Reply) -> Result<Value, Fault> {
    let body: Value = serde_json::from_slice(&reply.bytes).unwrap_or_default();
    let code = body.get("code").and_then(Value::as_i64);
    match (reply.status, code) {
        (200..=299, Some(0)) => Ok(body),
        (200..=299, None) => Err(unreadable(call)),
        (status, code) => Err(Refusal {
            operation: call.ask.operation,
            endpoint: call.endpoint,
            effect: call.effect,
            status,
            // A status that refuses with a code of success says nothing by its code.
            code: code.filter(|code| *code != 0),
            words: text(&body, "msg").unwrap_or(""),
            log_id: &reply.log_id,
            reset_s: reply.reset_s,
        }
        .fault()),
    }
}

fn unreadable(call: &Call) -> Fault {
    let message = format!("{}: the answer is unreadable", call.ask.operation);
    transport_fault("unreadable", message, true, call.effect)
}
