//! A plan as people and programs read it.

use loom_domain::integration::{Action, Change, Plan};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Outcome;

/// The document of a plan.
pub(super) fn document(plan: &Plan, revision: &str) -> Value {
    json!({
        "schema_version": "loom.integration_plan/v1", "plan_digest": plan.plan_digest, "hub_digest": plan.hub_digest,
        "revision": revision, "sensitive": plan.is_sensitive(), "archives": plan.archives(), "changes": plan.changes,
    })
}

/// Prints changes, one line for each field.
pub(super) fn print(plan: &Plan, cx: &mut Context<'_, '_>) -> Outcome {
    if plan.changes.is_empty() {
        return cx.out.line("nothing differs");
    }
    for change in &plan.changes {
        lines(change).iter().try_for_each(|line| cx.out.line(line))?;
    }
    Ok(())
}

fn lines(change: &Change) -> Vec<String> {
    let object = change.object();
    let mut lines = match change.action {
        Action::Create => vec![format!("+ {object}")],
        Action::Archive => vec![format!("- {object}")],
        Action::Update => Vec::new(),
    };
    let mark = if change.action == Action::Create { " " } else { "~" };
    lines.extend(change.fields.iter().map(|field| match change.action {
        Action::Create => format!("{mark} {object} {}: {}", field.field, field.to),
        _ => format!("{mark} {object} {}: {} → {}", field.field, field.from, field.to),
    }));
    lines.extend(change.sensitive.iter().map(|why| format!("! {object} {why}")));
    lines
}
