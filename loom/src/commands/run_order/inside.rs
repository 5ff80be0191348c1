//! A run inside a Turn: the hub runs it as the Agent, within the Agent's grants.

use loom_api::{request, routes};
use loom_capabilities::RunRequest;
use loom_domain::{Code, Error};
use loom_transport::CacheMode;
use serde_json::{Value, json};

use crate::cli::order::Order;
use crate::context::Context;
use crate::failure::{Failure, Outcome};

/// Asks the hub to run it.
pub(super) async fn run(order: &Order, wanted: &RunRequest, cx: &mut Context<'_, '_>) -> Outcome {
    let settings = &wanted.settings;
    let is_owners = settings.api_url.is_some() || !settings.credential_refs.is_empty();
    if is_owners || order.common.cursor.is_some() || order.common.cassette.is_named() {
        let why = "inside a Turn neither credentials nor base URLs nor cursors nor cassettes are given";
        return Err(Error::new(Code::Forbidden, why).into());
    }
    let body = request::CapabilityRun {
        operation: Some(wanted.operation.clone()).filter(|operation| !operation.is_empty()),
        input: wanted.input.clone(),
        limits: json!(wanted.limits),
        no_cache: order.common.cache == CacheMode::NoCache,
        refresh: order.common.cache == CacheMode::Refresh,
    };
    let call = cx.hub()?;
    let call = call.post(routes::capability_run(&order.capability.entry().qualified())).wait(60);
    let payload: Value = call.json(&body)?.run().await?;
    cx.out.stored_payload(&payload)?;
    let code = payload.pointer("/error/code").and_then(Value::as_str).and_then(Code::parse);
    code.map_or(Ok(()), |code| Err(Failure::of(code)))
}
