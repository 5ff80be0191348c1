//! Steps 1 to 3: decisions, a Turn with its reply, and approval.

use std::time::Duration;

use loom_api::routes;
use loom_domain::Result;
use loom_twins::slack::{Action, Post};
use serde_json::{Value, json};

use super::super::check::Checks;
use super::super::stage::{Stage, id_of};
use super::{items, text};

const WAIT: Duration = Duration::from_secs(10);
pub(super) const CHANNEL: &str = "C0DOCS";

pub(super) async fn refused(stage: &Stage, checks: &mut Checks) -> Result<()> {
    let (connection, address) = stage.set_up().await?;
    checks.check(true, "an Agent, a Slack Connection and an Address were made; the Address is disabled");
    stage.patch(routes::address(&address), json!({"enabled": true})).await?;
    let health = stage.until(WAIT, || async {
        let found = stage.get(routes::connection(&connection)).await.ok()?;
        (text(&found, "/state") == "connected").then_some(found)
    });
    let health = health.await?;
    checks.check(
        true,
        format!("the Connection is connected, proved alive by {}", text(&health, "/health/proof")),
    );
    post(stage, Post::mention(CHANNEL, "U0ANN", "what is Loom?"))?;
    let reason = first_refusal(stage, "membership_missing").await?;
    checks.check(reason, "a mention in a channel without Membership: refused, membership_missing");
    Ok(())
}

pub(super) fn post(stage: &Stage, post: Post) -> Result<loom_twins::slack::Posted> {
    stage.twin.post(post).map_err(loom_domain::Error::internal)
}

async fn first_refusal(stage: &Stage, reason: &str) -> Result<bool> {
    let found = stage.until(WAIT, || async {
        let page = stage.get(routes::refusals()).await.ok()?;
        items(&page).iter().any(|event| text(event, "/reason") == reason).then_some(())
    });
    found.await.map(|()| true)
}

async fn address(stage: &Stage) -> Result<String> {
    let page = stage.get(routes::addresses()).await?;
    Ok(items(&page).first().map(|a| text(a, "/id")).unwrap_or_default())
}

/// Makes and enables a Membership.
async fn member(stage: &Stage, conversation: &str, document: Value) -> Result<String> {
    let address = address(stage).await?;
    let membership = id_of(&stage.put(routes::conversation(&address, conversation), document).await?)?;
    stage.post(routes::membership_enable(&membership), json!({})).await?;
    Ok(membership)
}

pub(super) async fn answered(stage: &Stage, checks: &mut Checks) -> Result<()> {
    member(
        stage,
        CHANNEL,
        json!({"conversationType": "channel", "displayName": "#docs", "purpose": "Questions on the manual"}),
    )
    .await?;
    let asked = post(stage, Post::mention(CHANNEL, "U0ANN", "what is Loom?"))?;
    let answer = reply_in_thread(stage, &asked.ts).await?;
    checks
        .check(answer.contains("what is Loom?"), format!("the Agent's answer is in the thread: {answer:?}"));
    let sent = stage.until(WAIT, || async { sent_item(stage).await });
    let sent = sent.await?;
    let receipt = text(&sent, "/parts/0/receipt/externalMessageId");
    checks.check(
        !receipt.is_empty(),
        format!("{} is sent; its receipt is message {receipt}", text(&sent, "/id")),
    );
    post(stage, Post { typed: true, ..Post::new(CHANNEL, "U0ANN", "@loom are you there?") })?;
    let reason = first_refusal(stage, "trigger_not_met").await?;
    checks.check(reason, "a typed @name without a structured mention: refused, trigger_not_met");
    Ok(())
}

/// The text of the app's answer in a thread.
pub(super) async fn reply_in_thread(stage: &Stage, root: &str) -> Result<String> {
    let found = stage.until(WAIT, || async {
        let ledger = stage.twin.ledger();
        let thread = ledger.thread(CHANNEL, root);
        thread.iter().find(|m| m.by_app && !m.deleted).map(|m| m.text.clone())
    });
    found.await
}

/// The newest sent item.
async fn sent_item(stage: &Stage) -> Option<Value> {
    let page = stage.get(routes::outbox()).await.ok()?;
    items(&page).iter().find(|item| text(item, "/state") == "sent").cloned()
}

pub(super) async fn approved(stage: &Stage, checks: &mut Checks) -> Result<()> {
    let before = stage.twin.ledger().by_app().count();
    let first = post(stage, Post::new("D0BOB", "U0BOB", "hello from a stranger"))?;
    let event = first.event_ids.first().cloned().unwrap_or_default();
    for _ in 0..2 {
        let redeliver = Action::Redeliver { event_id: event.clone() };
        stage.twin.act(redeliver).map_err(loom_domain::Error::internal)?;
    }
    let pending = stage.until(WAIT, || async {
        let page = stage.get(format!("{}?state=pending_access", routes::inbox())).await.ok()?;
        let found = items(&page).to_vec();
        (!found.is_empty()).then_some(found)
    });
    let pending = pending.await?;
    checks.check(
        pending.len() == 1,
        "a stranger's DM waits for approval; three deliveries of its event are one item",
    );
    checks.check(stage.twin.ledger().by_app().count() == before, "the stranger sees nothing meanwhile");
    member(stage, "D0BOB", json!({"conversationType": "dm", "actorId": "U0BOB", "displayName": "Bob"}))
        .await?;
    let answer = stage.until(WAIT, || async {
        let ledger = stage.twin.ledger();
        ledger.by_app().find(|m| m.channel == "D0BOB").map(|m| m.text.clone())
    });
    let answer = answer.await?;
    checks.check(
        answer.contains("hello from a stranger"),
        "once approved, the waiting message is handled and answered",
    );
    Ok(())
}
