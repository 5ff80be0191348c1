//! Prints the answer of a request, redacted.

use loom_secrets::{Profile, Redactor};
use loom_transport::Response;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Prints the body for people, or a document with the body in it.
pub(super) fn print(response: &Response, redactor: &Redactor, cx: &mut Context<'_, '_>) -> Outcome {
    if !cx.out.is_human() {
        return cx.out.json(&document(response, redactor));
    }
    let text = body(response, redactor);
    if cx.env.stdout_is_terminal {
        return text.lines().try_for_each(|line| cx.out.line(line));
    }
    cx.out.document(&text)
}

fn body(response: &Response, redactor: &Redactor) -> String {
    match response.text() {
        Ok(text) => redactor.redact(text, Profile::Output).into_owned(),
        Err(_) => redactor.redact_bytes(response.bytes(), Profile::Output).into_owned(),
    }
}

fn document(response: &Response, redactor: &Redactor) -> Value {
    let meta = response.meta();
    let mut document = json!({
        "schema_version": "loom.http_answer/v1",
        "status": response.status(),
        "url": redactor.redact(&meta.final_url, Profile::Output),
        "content_type": response.header("content-type").map(|kind| redactor.redact(kind, Profile::Output)),
        "meta": {
            "request_id": meta.request_id, "attempts": meta.attempts, "from_cache": meta.from_cache,
            "elapsed_ms": meta.elapsed_ms, "waited_ms": meta.waited_ms, "rate": meta.rate,
        },
    });
    match response.json::<Value>() {
        Ok(mut value) => {
            redactor.redact_json(&mut value, Profile::Output);
            pick::put(&mut document, "json", &value);
        }
        Err(_) => pick::put(&mut document, "text", &body(response, redactor).into()),
    }
    document
}
