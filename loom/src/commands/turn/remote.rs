//! Turns that the hub runs: those with an Agent, and all of a hub that was named.

use loom_api::routes;
use loom_capabilities::{TurnOrder, TurnState, TurnView};
use loom_domain::{Error, TurnId};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::print;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Format, pick};

/// Longest wait that one request asks for, seconds.
const WAIT_SECONDS: u64 = 20;

/// Whether a hub was named; else Turns are those of this home.
pub(super) fn is_named(cx: &Context<'_, '_>) -> bool {
    cx.globals.url.is_some() || cx.env.get("LOOM_URL").is_some()
}

/// Begins a Turn and waits for its end; an interrupt asks it to stop.
pub(super) async fn begin(order: &TurnOrder, cx: &mut Context<'_, '_>) -> Outcome {
    let hub = cx.hub()?;
    let turn: Value = hub.post(routes::turns()).wait(WAIT_SECONDS).json(order)?.run().await?;
    followed(turn, cx).await
}

/// Goes on with a Turn and waits for its end.
pub(super) async fn resume(id: &TurnId, cx: &mut Context<'_, '_>) -> Outcome {
    let hub = cx.hub()?;
    let turn: Value =
        hub.post(routes::turn_resume(id.as_str())).wait(WAIT_SECONDS).json(&json!({}))?.run().await?;
    followed(turn, cx).await
}

async fn followed(turn: Value, cx: &mut Context<'_, '_>) -> Outcome {
    let hub = cx.hub()?;
    let id = pick::text(&turn, "turn_id");
    let mut turn = turn;
    let mut asked_to_stop = false;
    loop {
        let view = TurnView::deserialize(&turn).map_err(Error::internal)?;
        if !matches!(view.state, TurnState::Starting | TurnState::Running) {
            return ended(&view, &turn, cx);
        }
        // A resume of a Turn that runs already would be refused, so its state is asked for.
        tokio::select! {
            () = tokio::time::sleep(std::time::Duration::from_millis(200)) => {}
            _ = tokio::signal::ctrl_c(), if !asked_to_stop => {
                asked_to_stop = true;
                let _: Value = hub.delete(routes::turn(&id)).run().await?;
            }
        }
        turn = hub.get(routes::turn(&id)).run().await?;
    }
}

fn ended(view: &TurnView, turn: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    if cx.globals.format() == Format::Ndjson {
        let mut line = json!({"type": "end"});
        pick::put(&mut line, "turn", turn);
        cx.out.typed(&line)?;
    } else {
        print::shown(turn, cx)?;
    }
    print::ended(view)
}
