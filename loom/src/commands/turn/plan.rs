//! `loom turn plan`.

use loom_capabilities::TurnPlan;

use super::order::{OrderFlags, planned};
use crate::compose::world;
use crate::context::Context;
use crate::failure::Outcome;

/// Show what a Turn would do; nothing runs
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom turn plan --connector github_public_probe",
    "loom turn plan --config turn.yaml --json"
))]
pub(super) struct Args {
    #[command(flatten)]
    order: OrderFlags,
}

/// Shows it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let order = args.order.order(cx)?;
    let world = world::offline(cx.env)?;
    let catalog = world::catalog(cx.env)?;
    let plan = planned(&world, &catalog, &order, cx).await?;
    print(&plan, cx)
}

/// Prints a plan.
pub(super) fn print(plan: &TurnPlan, cx: &mut Context<'_, '_>) -> Outcome {
    if !cx.out.is_human() {
        return cx.out.typed(plan);
    }
    cx.out.heading(&format!("a Turn of {} connectors: nothing was run", plan.connectors.len()))?;
    for (n, one) in (1..).zip(&plan.connectors) {
        let status = serde_json::to_value(one.readiness).map_err(loom_domain::Error::internal)?;
        let status = status.as_str().unwrap_or_default();
        cx.out.line(&format!("  {n}. {} {}  {status}", one.connector_id, one.operation))?;
    }
    if let Some(agent) = &plan.agent {
        cx.out.line(&format!("  then the Agent {}", agent.id))?;
    }
    cx.out.line(&format!("plan {}", plan.plan_digest))
}
