//! `loom explain`.

use loom_domain::reason::{BlockedBy, EventReason, ItemReason};
use loom_domain::{Code, Error, outbox::OutboxReason};
use serde_json::json;

use crate::cli::nearest;
use crate::context::Context;
use crate::failure::{Outcome, exit_of};

/// Explain an error code
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom explain delivery_unknown", "loom explain version_conflict --json"))]
pub(crate) struct Args {
    /// Error or reason code; without one all error codes are listed
    code: Option<String>,
}

/// Explains it.
pub(crate) fn run(args: &Args, cx: &mut Context<'_, '_>) -> Outcome {
    let Some(text) = &args.code else { return all(cx) };
    let Some(code) = Code::parse(text) else { return reason(text, cx) };
    if !cx.out.is_human() {
        return cx.out.json(&page(code));
    }
    cx.out.heading(code.as_str())?;
    cx.out.line(code.about())?;
    cx.out.line(code.hint())?;
    let again = if code.retryable() { "may succeed later" } else { "needs a change first" };
    cx.out.line(&format!(
        "exit status {}, HTTP status {}; the same request {again}",
        exit_of(code),
        code.http()
    ))
}

/// Kinds of reason codes: what they tell, and where they are seen.
fn reasons() -> [(&'static str, &'static str, Vec<&'static str>); 4] {
    [
        (
            "event",
            "why a message was judged as it was",
            EventReason::ALL.iter().map(|r| r.as_str()).collect(),
        ),
        ("item", "why an Inbox item is in its state", ItemReason::ALL.iter().map(|r| r.as_str()).collect()),
        ("blocked", "what an item or send waits for", BlockedBy::ALL.iter().map(|r| r.as_str()).collect()),
        ("send", "why a send is in its state", OutboxReason::ALL.iter().map(|r| r.as_str()).collect()),
    ]
}

fn reason(text: &str, cx: &mut Context<'_, '_>) -> Outcome {
    let reasons = reasons();
    let Some((kind, about, _)) = reasons.iter().find(|(_, _, words)| words.contains(&text)) else {
        let codes = Code::ALL.iter().map(|code| code.as_str());
        let words = codes.chain(reasons.iter().flat_map(|(_, _, words)| words.iter().copied()));
        let hint = match nearest(text, words) {
            Some(near) => format!("did you mean `{near}`? `loom explain` lists all codes"),
            None => "loom explain".to_owned(),
        };
        return Err(Error::new(Code::NotFound, format!("no code {text}")).with_hint(hint).into());
    };
    let command = match *kind {
        "event" => format!("loom inbox refused --reason {text}"),
        "send" => "loom outbox list".to_owned(),
        _ => "loom inbox list".to_owned(),
    };
    let sentence = format!("a reason code: it tells {about}");
    if !cx.out.is_human() {
        return cx.out.json(&json!({"code": text, "kind": kind, "about": sentence, "hint": command}));
    }
    cx.out.heading(text)?;
    cx.out.line(&sentence)?;
    cx.out.line(&command)
}

fn all(cx: &mut Context<'_, '_>) -> Outcome {
    if !cx.out.is_human() {
        let items: Vec<_> = Code::ALL.iter().map(|code| page(*code)).collect();
        return cx.out.json(&json!({"items": items, "nextCursor": null}));
    }
    Code::ALL.iter().try_for_each(|code| cx.out.line(&format!("{:<26} {}", code.as_str(), code.about())))
}

fn page(code: Code) -> serde_json::Value {
    json!({
        "code": code,
        "about": code.about(),
        "hint": code.hint(),
        "exit": exit_of(code),
        "http_status": code.http(),
        "retryable": code.retryable(),
    })
}
