//! `loom integration-branch status`.

use loom_api::routes;
use loom_branch::Binding;
use loom_domain::integration::{Plan, Tree};
use loom_domain::{Code, Result};
use serde_json::{Value, json};

use super::desk::{Desk, hub_tree};
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Tell how hub and branch stand
#[derive(Debug, Default, clap::Args)]
#[command(after_help = examples!("loom integration-branch status", "loom integration-branch status --fetch --json"))]
pub(super) struct Args {
    /// Ask the remote first
    #[arg(long)]
    fetch: bool,
}

/// Tells it; without a hub or a binding it tells that.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let mut told = json!({"schema_version": "loom.integration_status/v1", "hub": "running", "objects": []});
    match Binding::load(&cx.env.home())? {
        None => pick::put(&mut told, "state", &json!("uninitialised")),
        Some(binding) => look(Desk::of(binding, cx), args, &mut told, cx).await?,
    }
    if cx.hub()?.get(routes::status()).run::<Value>().await.is_err() {
        pick::put(&mut told, "hub", &json!("not_running"));
    }
    if !cx.out.is_human() {
        return cx.out.json(&told);
    }
    cx.out.fields(&[
        ("state", pick::text(&told, "state")),
        ("hub", pick::text(&told, "hub")),
        ("branch", pick::dash(&told, "branch")),
        ("revision", pick::dash(&told, "revision")),
        ("last apply", pick::dash(&told, "last_apply.apply_id")),
    ])?;
    for object in pick::list(&told, "objects") {
        cx.out.line(&format!("{} ({})", pick::text(object, "object"), pick::text(object, "changed_by")))?;
    }
    Ok(())
}

async fn look(desk: Desk, args: Args, told: &mut Value, cx: &Context<'_, '_>) -> Result<()> {
    if let (true, Some(remote)) = (args.fetch, &desk.binding.remote) {
        desk.fetch(remote, cx).await?;
    }
    let tip = desk.tip().await?;
    pick::put(told, "branch", &json!(desk.binding.branch));
    pick::put(told, "revision", &json!(tip));
    let Some(tip) = tip else {
        pick::put(told, "state", &json!("uninitialised"));
        return Ok(());
    };
    let hub = match hub_tree(cx).await {
        Ok(hub) => hub,
        Err(error) if error.code == Code::HubUnreachable => {
            pick::put(told, "state", &json!("not_observed"));
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let base = desk.base()?;
    let branch = desk.tree(&tip).await?.settled(&base, &hub);
    let (state, objects) = stand(&base, &hub, &branch);
    pick::put(told, "state", &json!(state));
    pick::put(told, "objects", &json!(objects));
    let applies: Value = cx.hub()?.get(routes::integration_applies()).run().await?;
    pick::put(told, "last_apply", pick::list(&applies, "items").first().unwrap_or(&Value::Null));
    Ok(())
}

/// The state in one word, and who changed each object that differs.
fn stand(base: &Tree, hub: &Tree, branch: &Tree) -> (&'static str, Vec<Value>) {
    let changed = |tree: &Tree| -> Vec<String> {
        Plan::between(base, tree).changes.iter().map(loom_domain::integration::Change::object).collect()
    };
    let (ours, theirs) = (changed(hub), changed(branch));
    let plan = Plan::between(hub, branch);
    let objects = plan.changes.iter().map(|change| {
        let object = change.object();
        let by = match (ours.contains(&object), theirs.contains(&object)) {
            (true, false) => "hub",
            (false, true) => "branch",
            _ => "both",
        };
        json!({"object": object, "changed_by": by, "fields": change.fields.iter().map(|field| &field.field).collect::<Vec<_>>()})
    });
    let objects: Vec<Value> = objects.collect();
    let by = |who: &str| {
        objects.iter().any(|object| object.get("changed_by").and_then(Value::as_str) == Some(who))
    };
    let state = match (by("hub"), by("branch"), by("both")) {
        (false, false, false) => "in_sync",
        (true, false, false) => "hub_ahead",
        (false, true, false) => "branch_ahead",
        _ => "diverged",
    };
    (state, objects)
}
