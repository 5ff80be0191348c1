//! Steps 4 and 5: what the platform or the machine does to a send.

use std::time::Duration;

use loom_api::routes;
use loom_domain::Result;
use loom_twins::slack::{Action, Fault, FaultAction, Post};
use serde_json::Value;

use super::super::check::Checks;
use super::super::stage::Stage;
use super::begin::{CHANNEL, post, reply_in_thread};
use super::{items, text};

const WAIT: Duration = Duration::from_secs(15);
const SEND: &str = "chat.postMessage";

/// The Outbox item that answers with this text, once it has one of the states.
async fn outbox(stage: &Stage, needle: &str, states: &[&str]) -> Result<Value> {
    let found = stage.until(WAIT, || async {
        let page = stage.get(routes::outbox()).await.ok()?;
        let is_it = |item: &&Value| {
            text(item, "/text").contains(needle) && states.contains(&text(item, "/state").as_str())
        };
        items(&page).iter().find(is_it).cloned()
    });
    found.await
}

fn copies(stage: &Stage, needle: &str) -> usize {
    stage.twin.ledger().by_app().filter(|m| m.text.contains(needle)).count()
}

pub(super) async fn lost_answer_and_limit(stage: &Stage, checks: &mut Checks) -> Result<()> {
    stage.twin.drop_next_answer(SEND);
    post(stage, Post::mention(CHANNEL, "U0ANN", "will you lose this answer?"))?;
    let unknown = outbox(stage, "lose this answer", &["unknown", "sent"]).await?;
    checks.check(
        text(&unknown, "/state") == "unknown",
        "Slack took the message but its answer was lost: unknown, not sent again",
    );
    let limit = FaultAction::RateLimited { retry_after_secs: Some(1) };
    stage.twin.fault(Fault::once(SEND, limit));
    let direct = post(stage, Post::new("D0BOB", "U0BOB", "and what of rate limits?"))?;
    let waited = outbox(stage, "rate limits", &["sent"]).await?;
    let tries = text(&waited, "/parts/0/state");
    checks
        .check(tries == "sent" && !direct.ts.is_empty(), "HTTP 429 with Retry-After: waited for, then sent");
    let settled = outbox(stage, "lose this answer", &["sent"]).await?;
    let via = text(&settled, "/parts/0/receipt/via");
    checks.check(via == "settlement", "the lost answer was settled by asking Slack");
    checks.check(copies(stage, "lose this answer") == 1, "people see one message");
    Ok(())
}

pub(super) async fn killed(stage: &mut Stage, checks: &mut Checks) -> Result<()> {
    stage.twin.fault(Fault::once(SEND, FaultAction::HangAfterActing));
    let asked = post(stage, Post::mention(CHANNEL, "U0ANN", "do you survive a kill?"))?;
    stage.until(WAIT, || async { (copies(stage, "survive a kill") == 1).then_some(()) }).await?;
    stage.kill_hub().await?;
    checks.check(true, "the hub was killed after Slack took the message and before its answer");
    stage.twin.act(Action::ClearFaults {}).map_err(loom_domain::Error::internal)?;
    let took = stage.start_hub().await?;
    checks
        .check(took < Duration::from_secs(5), format!("the hub serves again after {} ms", took.as_millis()));
    let settled = outbox(stage, "survive a kill", &["sent"]).await?;
    checks.check(
        text(&settled, "/parts/0/receipt/via") == "settlement",
        "the send was settled by asking Slack",
    );
    checks.check(copies(stage, "survive a kill") == 1, "people see one message");
    let answer = reply_in_thread(stage, &asked.ts).await?;
    checks.check(answer.contains("survive a kill"), "it is the answer, in its thread");
    Ok(())
}
