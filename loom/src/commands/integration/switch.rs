//! Switches a Connection or an Address on or off.

use loom_api::{request, routes};
use serde_json::Value;

use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Switches it and tells what now waits.
pub(crate) async fn switch(
    id: &str,
    enabled: bool,
    expected_version: Option<u64>,
    cx: &mut Context<'_, '_>,
) -> Outcome {
    let hub = cx.hub()?;
    let dry = cx.globals.dry_run;
    let (kind, done) = if id.starts_with("con_") {
        let path = if enabled { routes::connection_enable(id) } else { routes::connection_disable(id) };
        let body = request::Versioned { expected_version };
        ("Connection", hub.post(path).dry_run(dry).json(&body)?.run::<Value>().await?)
    } else {
        let policy = request::AddressPolicy { enabled: Some(enabled), ..request::AddressPolicy::default() };
        let body = request::UpdateAddress { policy, expected_version, ..request::UpdateAddress::default() };
        ("Address", hub.patch(routes::address(id)).dry_run(dry).json(&body)?.run::<Value>().await?)
    };
    let word = if enabled { "enabled" } else { "disabled" };
    let before = if pick::list(&done, "changed").is_empty() { " already" } else { "" };
    cx.out
        .mutation_as(&done, &format!("{kind} {id}{before} {word} v{}", pick::number(&done, "object.version")))
}
