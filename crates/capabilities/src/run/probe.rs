//! `probe` without a target: a connector tells about itself, without the network.

use loom_domain::Result;
use serde_json::json;

use super::Collector;
use crate::{Capability, Cx, RunOutcome};

pub(super) async fn about_itself(
    capability: &dyn Capability,
    cx: &Cx,
    collector: &mut Collector<'_>,
) -> Result<RunOutcome> {
    let entry = capability.entry();
    let readiness = capability.readiness(cx, None).await;
    let commands = [entry.command(), format!("loom value-connectors show {}", entry.id)];
    collector.own_fields(json!({"readiness": readiness, "commands": commands}));
    Ok(RunOutcome { is_own_fact: true, ..RunOutcome::default() })
}
