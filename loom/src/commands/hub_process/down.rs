//! `loom down`.

use std::time::Duration;

use loom_api::{request, routes};
use loom_domain::{Code, Error};
use serde_json::{Value, json};

use super::Down;
use crate::context::Context;
use crate::failure::Outcome;

const LOOK: Duration = Duration::from_millis(50);
/// Time beyond the drain in which the hub must be gone.
const GRACE: Duration = Duration::from_secs(30);
const DRAIN_SECONDS: u64 = 60;

/// Asks the hub to drain and stop, and waits until it is gone.
pub(crate) async fn run(args: Down, cx: &mut Context<'_, '_>) -> Outcome {
    let hub = cx.hub()?;
    if cx.globals.dry_run {
        return cx.out.note("the hub would drain and stop");
    }
    let body = request::Stop { drain_seconds: args.drain };
    let _: Value = hub.post(routes::hub_stop()).json(&body)?.run().await?;
    let limit = Duration::from_secs(args.drain.unwrap_or(DRAIN_SECONDS)) + GRACE;
    let gone = async {
        while hub.get(routes::status()).run::<Value>().await.is_ok_and(|status| status.get("state").is_some())
        {
            tokio::time::sleep(LOOK).await;
        }
    };
    if tokio::time::timeout(limit, gone).await.is_err() {
        return Err(Error::new(Code::WaitTimeout, "the hub has not stopped in time").into());
    }
    if cx.out.is_human() {
        cx.out.line("the hub has stopped")
    } else {
        cx.out.json(&json!({"state": "stopped"}))
    }
}
