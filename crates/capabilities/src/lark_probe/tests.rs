//! The connector on the Lark twin.

use std::sync::Arc;

use async_trait::async_trait;
use loom_domain::Code;
use loom_secrets::{CredentialRef, Kind, Secret};
use loom_transport::Transport;
use loom_twins::lark::{Fault, FaultAction, LarkMessage, LarkTwin, World as Platform};
use serde_json::{Value, json};

use super::*;
use crate::{Credentials, NoObserver, Payload, RunLimits, RunSettings, World};

struct App(String, String);

#[async_trait]
impl Credentials for App {
    async fn resolve(&self, _: &CredentialRef, _: Kind, field: &str) -> Result<Secret> {
        Ok(Secret::new(if field == "app_id" { self.0.clone() } else { self.1.clone() }))
    }
    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

async fn twin() -> LarkTwin {
    LarkTwin::start(0, Platform::default()).await.unwrap()
}

fn world(twin: &LarkTwin) -> World {
    let mut world = World::new(Arc::new(|meter, origins| {
        let builder = Transport::builder().log(meter.log());
        origins.iter().fold(builder, |builder, origin| builder.local_origin(origin)).build()
    }));
    let (id, secret) = twin.app();
    world.credentials = Arc::new(App(id, secret));
    world.key = Arc::new(|| Ok([7; 32]));
    world
}

fn request(twin: &LarkTwin, operation: &str, input: Value) -> RunRequest {
    let credential_refs = [(CREDENTIAL.to_owned(), CredentialRef::Vault("lark".to_owned()))].into();
    let settings = RunSettings { api_url: Some(twin.base_url()), credential_refs };
    RunRequest { operation: operation.to_owned(), input, settings, ..RunRequest::default() }
}

async fn ask_in(world: &World, twin: &LarkTwin, operation: &str, input: Value) -> Payload {
    let request = request(twin, operation, input);
    crate::run(world, &LarkProbe::new(), request, None, &mut NoObserver).await.unwrap()
}

async fn ask(twin: &LarkTwin, operation: &str, input: Value) -> Payload {
    ask_in(&world(twin), twin, operation, input).await
}

fn general() -> Value {
    json!({"chat": "oc_general"})
}

fn count(twin: &LarkTwin, end: &str) -> usize {
    twin.requests().iter().filter(|request| request.path.ends_with(end)).count()
}

/// CAP-009: it answers `probe` with and without a target.
#[tokio::test]
async fn cap_009_it_tells_what_the_app_is_and_may_read() {
    let twin = twin().await;
    let bare = RunRequest::default();
    let bare = crate::run(&world(&twin), &LarkProbe::new(), bare, None, &mut NoObserver).await.unwrap();
    assert_eq!((bare.ok, bare.fields["readiness"]["status"].as_str()), (true, Some("credential_missing")));
    let payload = ask(&twin, "probe", json!({})).await;
    assert_eq!((&payload.fields["app_name"], &payload.fields["open_id"]), (&json!("Twin"), &json!("ou_bot")));
    assert_eq!(payload.fields["scopes"], json!([{"name": "im:chat:readonly", "seen": true}]));
    let chats = ask(&twin, "chats", json!({})).await;
    assert_eq!((chats.items[0]["chat_id"].as_str(), chats.content_trust), (Some("oc_general"), "untrusted"));
    let members = ask(&twin, "members", general()).await;
    assert_eq!(members.items[1]["name"], "Bob");
    let document = ask(&twin, "document", json!({"token": "doxcnTwinDocument001"})).await;
    assert_eq!(
        (&document.fields["title"], &document.fields["text"]),
        (&json!("Notes"), &json!("line 1\nline 2\n"))
    );
    let printed = serde_json::to_string(&members).unwrap();
    assert!(!printed.contains("twin-app-secret") && !printed.contains("t-twin-token"), "{printed}");
}

/// CAP-104: a text of 20,000 characters with line breaks comes back whole; one over the cap says so.
#[tokio::test]
async fn cap_104_long_text_is_whole() {
    let twin = twin().await;
    let long = "fn main() {\n    // 代码\n}\n".repeat(1_000).trim_end().to_owned();
    assert!(long.chars().count() > 20_000);
    twin.edit(|platform| {
        platform.messages.push(LarkMessage::text(500, "oc_general", &long));
        platform.messages.push(LarkMessage::text(501, "oc_general", &"x".repeat(150_001)));
    });
    let whole = ask(&twin, "message", json!({"id": "om_00000500"})).await;
    assert_eq!(
        (whole.fields["text"].as_str(), &whole.fields["truncated"]),
        (Some(long.as_str()), &json!(false))
    );
    let over = ask(&twin, "message", json!({"id": "om_00000501"})).await;
    assert_eq!((&over.fields["truncated"], &over.fields["text_bytes"]), (&json!(true), &json!(150_001)));
}

/// CAP-105: edits, recalls, attachments and mentions are visible; a name in the text is no mention.
#[tokio::test]
async fn cap_105_edits_recalls_attachments_and_mentions_are_seen() {
    let twin = twin().await;
    twin.edit(|platform| {
        platform.messages.clear();
        let text = |n, text: &str| LarkMessage::text(n, "oc_general", text);
        platform.messages.push(LarkMessage { edited: true, ..text(1, "new words") });
        platform.messages.push(LarkMessage { recalled: true, ..text(2, "gone words") });
        let file = json!({"file_key": "file_k1", "file_name": "plan.pdf"});
        platform.messages.push(LarkMessage { kind: "file".to_owned(), content: file, ..text(3, "") });
        let mention = ("@_user_1".to_owned(), "ou_bot".to_owned(), "Twin".to_owned());
        platform.messages.push(LarkMessage { mentions: vec![mention], ..text(4, "@_user_1 hello") });
        platform.messages.push(text(5, "@Twin hello"));
        let post = json!({"title": "T", "content": [[{"tag": "text", "text": "a "}, {"tag": "a", "text": "b", "href": "https://x"}], [{"tag": "img", "image_key": "img_1"}]]});
        platform.messages.push(LarkMessage { kind: "post".to_owned(), content: post, ..text(6, "") });
    });
    let payload = ask(&twin, "messages", general()).await;
    let [edited, recalled, file, meant, named, post] = payload.items.as_slice() else {
        panic!("{payload:?}")
    };
    assert_eq!((&edited["edited"], &edited["recalled"]), (&json!(true), &json!(false)));
    assert_eq!((&recalled["recalled"], &recalled["text"]), (&json!(true), &json!("")));
    assert_eq!(
        file["attachments"],
        json!([{"kind": "file", "file_key": "file_k1", "file_name": "plan.pdf"}])
    );
    assert_eq!(meant["mentions"][0]["id"], "ou_bot");
    assert_eq!(named["mentions"], json!([]));
    assert_eq!(
        (&post["text"], &post["attachments"][0]["file_key"]),
        (&json!("T\na [b](https://x)"), &json!("img_1"))
    );
    assert!(edited["created_at"].as_str().is_some_and(|at| at.ends_with('Z')));
}

/// CAP-106: each class of codes has its own error and hint; a used-up quota is not asked again.
#[tokio::test]
async fn cap_106_codes_map_to_errors_with_hints() {
    let twin = twin().await;
    for (status, code, wanted, detail) in [
        (400, 99_991_400, Code::ProviderRateLimited, ""),
        (400, 230_020, Code::ProviderRateLimited, ""),
        (400, 99_991_403, Code::ProviderQuotaExhausted, ""),
        (400, 99_991_672, Code::ProviderHttpError, "permission"),
        (400, 230_002, Code::ProviderHttpError, "permission"),
        (400, 231_003, Code::ProviderHttpError, "gone"),
        (400, 99_991_662, Code::ProviderAuthError, ""),
    ] {
        twin.clear_requests();
        let reset_seconds = (code == 99_991_400).then_some(7);
        let action = FaultAction::Code { status, code, reset_seconds };
        twin.fault(Fault::once("/open-apis/im/v1/messages", action));
        let payload = ask(&twin, "messages", general()).await;
        let error = payload.error.unwrap();
        assert_eq!(error.code, wanted, "{code}: {error:?}");
        assert_eq!(error.detail["kind"].as_str().unwrap_or_default(), detail, "{code}");
        assert_eq!((error.detail["provider_code"].as_i64(), count(&twin, "/messages")), (Some(code), 1));
        assert_eq!(error.detail["provider_request_id"], "twin-log-id");
        let hint = error.hint.unwrap_or_default();
        match code {
            99_991_400 => assert_eq!(error.retry_after_ms, Some(7_000)),
            99_991_672 => assert!(hint.contains("publish a new version"), "{hint}"),
            230_002 => assert_eq!(hint, "add the bot to the chat"),
            _ => {}
        }
    }
    let outside = ask(&twin, "messages", json!({"chat": "oc_elsewhere"})).await.error.unwrap();
    assert_eq!(outside.hint.as_deref(), Some("add the bot to the chat"));
    let gone = ask(&twin, "message", json!({"id": "om_none"})).await.error.unwrap();
    assert_eq!(gone.detail["kind"], "gone");
}

/// 4.4: a token is kept while it lasts; one that has ended is renewed once, and a second refusal is the end.
#[tokio::test]
async fn a_token_that_ended_is_renewed_once() {
    let twin = twin().await;
    let world = world(&twin);
    assert!(ask_in(&world, &twin, "chats", json!({})).await.ok);
    assert!(ask_in(&world, &twin, "chats", json!({})).await.ok);
    assert_eq!(count(&twin, "/internal"), 1);
    twin.end_tokens();
    assert!(ask_in(&world, &twin, "chats", json!({})).await.ok);
    assert_eq!(count(&twin, "/internal"), 2);
    let ended = FaultAction::Code { status: 400, code: 99_991_663, reset_seconds: None };
    twin.fault(Fault::times("/open-apis/im/v1/chats", 2, ended));
    let error = ask_in(&world, &twin, "chats", json!({})).await.error.unwrap();
    assert_eq!((error.code, count(&twin, "/internal")), (Code::ProviderAuthError, 3));
    twin.edit(|platform| platform.expire_seconds = 299);
    let world = self::world(&twin);
    twin.clear_requests();
    ask_in(&world, &twin, "chats", json!({})).await;
    ask_in(&world, &twin, "chats", json!({})).await;
    assert_eq!(count(&twin, "/internal"), 2, "a token in its last minutes is not kept");
}

/// CAP-107: many messages are read page by page, each once, and a limit goes on where it stopped.
#[tokio::test]
async fn cap_107_five_thousand_messages_are_read_page_by_page() {
    let twin = twin().await;
    twin.edit(|platform| {
        platform.messages =
            (1..=5_000).map(|n| LarkMessage::text(n, "oc_general", &format!("m{n}"))).collect();
    });
    let mut input = general();
    input["limit"] = json!(5_000);
    let payload = ask(&twin, "messages", input).await;
    assert_eq!((payload.ok, payload.item_count, count(&twin, "/messages")), (true, 5_000, 100));
    assert_eq!((&payload.items[0]["text"], &payload.items[4_999]["text"]), (&json!("m1"), &json!("m5000")));
    let world = world(&twin);
    let limited = RunRequest {
        limits: RunLimits { limit: Some(70), ..RunLimits::default() },
        ..request(&twin, "messages", json!({"chat": "oc_general", "limit": 70}))
    };
    let first = crate::run(&world, &LarkProbe::new(), limited.clone(), None, &mut NoObserver).await.unwrap();
    let cursor = first.cursor.unwrap();
    let second =
        crate::run(&world, &LarkProbe::new(), limited, Some(&cursor), &mut NoObserver).await.unwrap();
    assert_eq!((first.items.len(), second.items.len()), (70, 70));
    assert_eq!((&first.items[69]["text"], &second.items[0]["text"]), (&json!("m70"), &json!("m71")));
    twin.fault(Fault::times("/open-apis/im/v1/messages", 2, FaultAction::RepeatPage));
    let error = ask(&twin, "messages", general()).await.error.unwrap();
    assert_eq!(error.code, Code::ProviderProtocolError);
}

/// 4.4: ids are ids, ranges are for chats.
#[tokio::test]
async fn inputs_are_checked_before_anything_is_sent() {
    let twin = twin().await;
    for (operation, input) in [
        ("members", json!({"chat": "oc_a/../b"})),
        ("members", json!({"chat": "ou_ann"})),
        ("message", json!({"id": "om_"})),
        ("messages", json!({})),
        ("messages", json!({"chat": "oc_a", "thread": "omt_b"})),
        ("messages", json!({"thread": "omt_b", "from": "2026-01-01T00:00:00Z"})),
        ("messages", json!({"chat": "oc_a", "from": "yesterday"})),
        ("messages", json!({"chat": "oc_a", "limit": 5_001})),
        ("document", json!({"token": "short"})),
    ] {
        let wanted = request(&twin, operation, input.clone());
        let refused = crate::run(&world(&twin), &LarkProbe::new(), wanted, None, &mut NoObserver).await;
        assert_eq!(refused.unwrap_err().code, Code::InvalidInput, "{operation} {input}");
    }
    assert!(twin.requests().is_empty());
    let ranged = json!({"chat": "oc_general", "from": "2026-01-01T00:10:00Z", "to": "2026-01-01T00:12:00Z"});
    assert_eq!(ask(&twin, "messages", ranged).await.item_count, 3);
}
