//! `loom explain`.

use loom_domain::{Code, Error};
use serde_json::json;

use crate::context::Context;
use crate::failure::{Outcome, exit_of};

/// Explain an error code
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom explain delivery_unknown", "loom explain version_conflict --json"))]
pub(crate) struct Args {
    /// Code; without one all are listed
    code: Option<String>,
}

/// Explains it.
pub(crate) fn run(args: &Args, cx: &mut Context<'_, '_>) -> Outcome {
    let Some(text) = &args.code else { return all(cx) };
    let Some(code) = Code::parse(text) else {
        return Err(Error::new(Code::NotFound, format!("no error code {text}"))
            .with_hint("loom explain")
            .into());
    };
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
