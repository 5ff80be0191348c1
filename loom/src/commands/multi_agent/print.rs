//! Prints runs.

use loom_domain::Code;
use serde_json::Value;

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::output::pick;

/// Characters of a result in the short view of a lane.
const RESULT_CHARS: usize = 400;

/// Prints a run.
pub(super) fn run(run: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    if !cx.out.is_human() {
        return cx.out.json(run);
    }
    let text = |path: &str| pick::text(run, path);
    let which = text("which");
    let reason = [text("reason"), which].join(" ");
    cx.out.heading(&format!("{}  {}  {} {}", text("run_id"), text("id"), text("state"), reason.trim()))?;
    cx.out.fields(&[
        ("rounds", format!("{} of {}", text("rounds"), text("rounds_max"))),
        ("turns", text("turns")),
        ("tokens", text("tokens")),
        ("messages", text("messages")),
        ("failures", text("failures")),
    ])?;
    for lane in pick::list(run, "lanes") {
        let text = |path: &str| pick::text(lane, path);
        let done = if pick::is(lane, "done") { ", done" } else { "" };
        cx.out.line(&format!("{}  {} rounds, {}{done}", text("id"), text("rounds"), text("state")))?;
        let result: String = text("summary").chars().take(RESULT_CHARS).collect();
        result.lines().try_for_each(|line| cx.out.line(&format!("    {line}")))?;
        if !text("error").is_empty() {
            cx.out.line(&format!("    error: {}", text("error")))?;
        }
    }
    pick::list(run, "warnings").iter().try_for_each(|warning| cx.out.note(&format!("warning: {warning}")))
}

/// Prints what a run would be.
pub(super) fn plan(plan: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    if !cx.out.is_human() {
        return cx.out.json(plan);
    }
    cx.out.heading(&format!("{}: dry run, nothing was begun", pick::text(plan, "id")))?;
    for lane in pick::list(plan, "file.lanes") {
        cx.out.line(&format!("  {}  {}", pick::text(lane, "id"), pick::text(lane, "agent")))?;
    }
    Ok(())
}

/// The exit of a run that is over.
pub(super) fn ended(run: &Value) -> Outcome {
    match pick::text(run, "reason").as_str() {
        "lane_done" | "idle" => Ok(()),
        _ => Err(Failure::of(Code::InvalidState)),
    }
}
