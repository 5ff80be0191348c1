use std::sync::{Arc, Mutex};

use loom_domain::AgentId;
use serde_json::json;

use super::*;
use crate::{Effects, NoObserver, Payload, World};

const TO: &str = "mem_01arz3ndektsv4rrffq69g5fav";

/// A hub that knows one Membership and takes notes.
struct Desk {
    provider: &'static str,
    state: &'static str,
    asked: Mutex<Vec<(Letter, Duration)>>,
}

#[async_trait]
impl SendPath for Desk {
    async fn recipient(&self, _: &str) -> Result<Recipient> {
        Ok(Recipient {
            provider: self.provider.to_owned(),
            connection_id: "con_1".to_owned(),
            connection_state: "connected".to_owned(),
            outbound_policy: "proactive".to_owned(),
            enabled: true,
        })
    }
    async fn check(&self, _: &Letter) -> Result<u32> {
        match self.state {
            "refused" => Err(Error::new(Code::ProactiveNotAllowed, "replies only")),
            _ => Ok(1),
        }
    }
    async fn send(&self, letter: &Letter, wait: Duration) -> Result<Sent> {
        self.check(letter).await?;
        self.asked.lock().unwrap().push((letter.clone(), wait));
        let (item, part) = stored(self.state);
        Ok(Sent { item, parts: vec![part], duplicate: false })
    }
}

/// A world without a door: nothing of it leaves.
fn closed() -> World {
    World::new(Arc::new(|_, _| Err(Error::internal("closed"))))
}

/// An item in a state, with one Part.
fn stored(state: &str) -> (loom_domain::OutboxItem, loom_domain::Part) {
    let id = |prefix: &str| format!("{prefix}01arz3ndektsv4rrffq69g5fav");
    let at = "2026-01-01T00:00:00.000Z";
    let item = json!({
        "id": id("out_"), "version": 1, "seq": 1, "agentId": id("agt_"), "addressId": id("adr_"), "membershipId": TO,
        "inboxItemId": null, "conversation": {"provider": "feishu", "connectionId": id("con_"), "conversationId": "oc_1",
        "conversationType": null}, "target": {}, "text": "hello", "format": "markdown", "state": state,
        "stateReason": null, "heldUntil": null, "expectReply": "optional", "replyState": "none",
        "idempotencyKey": "k1", "fingerprint": "f", "labels": [], "ttlSeconds": 60, "expiresAt": at, "urgent": false,
        "partial": false, "sentParts": 0, "totalParts": 1, "supersededBy": null, "lastError": null, "traceId": "t",
        "createdAt": at, "updatedAt": at,
    });
    let is_sent = state == "sent";
    let receipt = json!({"kind": "text", "externalMessageId": "om_1", "externalFileId": null, "externalThreadId": null,
        "permalink": null, "artifactId": null, "providerTime": at, "attemptId": null, "via": "response",
        "recordedAt": at});
    let part = json!({
        "id": id("part_"), "outboxId": id("out_"), "seq": 1, "n": 1, "kind": "text",
        "state": if state == "held" { "pending" } else { state }, "until": null, "attemptCount": 0, "leaseUntil": null,
        "blockedBy": null, "receipt": if is_sent { receipt } else { json!(null) }, "lastError": null,
    });
    (serde_json::from_value(item).unwrap(), serde_json::from_value(part).unwrap())
}

async fn run(
    provider: &'static str,
    state: &'static str,
    operation: &str,
    input: serde_json::Value,
) -> (Payload, usize) {
    let desk = Arc::new(Desk { provider, state, asked: Mutex::default() });
    let mut world = closed();
    world.send_path = Some(desk.clone());
    let request = RunRequest { operation: operation.to_owned(), input, ..RunRequest::default() };
    let payload = crate::run(&world, &LarkNotify::new(), request, None, &mut NoObserver).await.unwrap();
    let asked = desk.asked.lock().unwrap().len();
    (payload, asked)
}

fn order() -> serde_json::Value {
    json!({"to": TO, "text": "hello", "idempotency_key": "k1"})
}

/// CAP-109: each end of the item has its code, and the item stands in the fields whatever it is.
#[tokio::test]
async fn cap_109_each_end_has_its_code() {
    for (state, code) in [
        ("sent", None),
        ("pending", Some(Code::DeliveryPending)),
        ("held", Some(Code::DeliveryHeld)),
        ("failed", Some(Code::DeliveryFailed)),
        ("expired", Some(Code::DeliveryExpired)),
        ("unknown", Some(Code::DeliveryUnknown)),
    ] {
        let (payload, asked) = run("feishu", state, "notify", order()).await;
        assert_eq!((payload.error.map(|error| error.code), asked), (code, 1), "{state}");
        assert_eq!(payload.fields["state"], state);
    }
    let (payload, _) = run("feishu", "sent", "notify", order()).await;
    assert_eq!(payload.fields["parts"][0]["provider_message_id"], "om_1");
    let counted = Effects { external_writes: 1, state_written: true, ..Effects::default() };
    assert_eq!(payload.effects, counted);
    let mut stored = order();
    stored["async"] = true.into();
    assert!(run("feishu", "pending", "notify", stored).await.0.ok);
}

/// CAP-109: a refusal of admission is the run's own, also when it is only asked about.
#[tokio::test]
async fn cap_109_a_refusal_comes_with_its_code() {
    for (operation, input) in [("notify", order()), ("probe", json!({"to": TO}))] {
        let (payload, asked) = run("feishu", "refused", operation, input).await;
        assert_eq!((payload.error.unwrap().code, asked), (Code::ProactiveNotAllowed, 0));
    }
    let (payload, asked) = run("feishu", "sent", "probe", json!({"to": TO})).await;
    assert_eq!((payload.fields["admitted"].as_bool(), asked), (Some(true), 0));
}

#[tokio::test]
async fn another_platform_is_told_where_to_go() {
    let (payload, asked) = run("slack", "sent", "notify", order()).await;
    let error = payload.error.unwrap();
    assert_eq!((error.code, asked), (Code::InvalidInput, 0));
    assert!(error.hint.unwrap().contains("loom integration send --to"));
}

#[tokio::test]
async fn an_order_is_whole_before_a_hub_is_asked() {
    for input in [
        json!({"to": TO, "idempotency_key": "k"}),
        json!({"to": TO, "text": "a", "text_file": "b", "idempotency_key": "k"}),
    ] {
        let request = RunRequest { operation: "notify".to_owned(), input, ..RunRequest::default() };
        let refused = crate::plan(&World::of_process(), &LarkNotify::new(), request).unwrap_err();
        assert_eq!(refused.code, Code::InvalidInput);
    }
    for input in [
        json!({"to": "oc_1", "text": "a", "idempotency_key": "k"}),
        json!({"to": TO, "text": "a"}),
        json!({"to": TO, "text": "x".repeat(20_001), "idempotency_key": "k"}),
        json!({"to": TO, "file": vec!["f"; 9], "idempotency_key": "k"}),
    ] {
        let request = RunRequest { operation: "notify".to_owned(), input, ..RunRequest::default() };
        let refused = crate::effective(&World::of_process(), &LarkNotify::new(), request).unwrap_err();
        assert_eq!(refused.code, Code::InvalidInput);
    }
}

/// An Agent's order waits for the owner, and without a hub nothing is sent.
#[tokio::test]
async fn an_agents_order_is_gated() {
    let request = RunRequest { operation: "notify".to_owned(), input: order(), ..RunRequest::default() };
    let mut world = closed();
    let nobody =
        crate::run(&world, &LarkNotify::new(), request.clone(), None, &mut NoObserver).await.unwrap();
    assert_eq!(nobody.error.unwrap().code, Code::NotReady);
    world.principal = Principal::Agent(AgentId::new(1, 1));
    let refused = crate::run(&world, &LarkNotify::new(), request, None, &mut NoObserver).await.unwrap_err();
    assert_eq!(refused.code, Code::ApprovalRequired);
}
