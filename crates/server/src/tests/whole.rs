//! The routes over a real hub and store.

use std::sync::Arc;
use std::time::Duration;

use loom_api::query;
use loom_domain::{ConversationType, Principal, TokenId};
use loom_hub::{Config, Hub, Parts, SystemClock, home::Home};
use loom_secrets::{Redactor, Resolver};
use loom_store::ops::{candidates::Seen, tokens::Token};
use loom_store::{Store, StoreConfig};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::house::{Reply, bearer, read_reply, request};
use crate::{EventSource, ListenConfig, SECRET_BYTES, Server, TokenKind, doors, mint};

pub(super) struct Whole {
    pub(super) hub: Hub,
    pub(super) socket: std::path::PathBuf,
    /// Where the server takes its events from.
    pub(super) events: Arc<dyn EventSource>,
    stop: CancellationToken,
    task: JoinHandle<()>,
    _dir: tempfile::TempDir,
}

impl Whole {
    pub(super) async fn start() -> Whole {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("home");
        let home = Home::new(&root);
        home.prepare().unwrap();
        let socket = root.join("run/loom.sock");
        let (redactor, clock) = (Redactor::new(), Arc::new(SystemClock));
        let opened_at = loom_hub::Clock::now(clock.as_ref());
        let settings = StoreConfig::new(&root, "nod_test");
        let store =
            tokio::task::spawn_blocking(move || Store::open(settings, opened_at)).await.unwrap().unwrap();
        let hub = Hub::start(Parts {
            config: Config::default(),
            home,
            store,
            clock,
            entropy: Arc::new(|| {
                let mut bytes = [0; 16];
                getrandom::fill(&mut bytes).unwrap();
                u128::from_ne_bytes(bytes)
            }),
            resolver: Arc::new(Resolver::new(redactor.clone(), Arc::new(|_| None))),
            redactor,
            make_channel: Arc::new(|_, _| Err(loom_domain::Error::internal("no channel in this test"))),
            lent: loom_hub::Lent {
                world: loom_capabilities::World::over(Arc::new(loom_transport::MockBackend::new())),
                ..loom_hub::Lent::nothing()
            },
            socket: socket.clone(),
        });
        let stop = CancellationToken::new();
        let config = ListenConfig { address: None, socket: Some(socket.clone()), ..ListenConfig::default() };
        let doors = doors(&hub);
        let events = doors.events.clone();
        let server = Server::bind(config, doors, stop.clone()).await.unwrap();
        Whole { hub, socket, events, stop, task: tokio::spawn(server.serve()), _dir: dir }
    }

    pub(super) async fn ask(&self, line: &str, headers: &[&str], body: &Value) -> (u16, Value) {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let mut all = vec!["content-type: application/json"];
        all.extend(headers);
        let reply = self.send(&request(line, "localhost", &all, &text)).await;
        (reply.status, serde_json::from_str(&reply.body).unwrap_or_default())
    }

    /// Reads a path with a token of somebody else than the owner.
    pub(super) async fn read_as(&self, token: &str, path: &str) -> (u16, Value) {
        self.ask(&format!("GET {path}"), &[token], &Value::Null).await
    }

    /// The header of a new token of that kind.
    pub(super) async fn token(&self, kind: &str, subject: &str) -> String {
        let act = self.hub.act(Principal::Owner);
        let mut random = [0; SECRET_BYTES];
        getrandom::fill(&mut random).unwrap();
        let minted = mint(TokenKind::Person, TokenId::new(act.now.0, (act.entropy)()), &random);
        let token = Token {
            id: minted.id,
            seq: 0,
            kind: kind.to_owned(),
            subject: subject.to_owned(),
            sha256: hex::encode(minted.sha256),
            scopes: Vec::new(),
            created_at: act.now,
            expires_at: None,
            revoked_at: None,
        };
        self.hub.store().put_token(act, token).await.unwrap();
        bearer(&minted.value)
    }

    /// A new object's id.
    pub(super) async fn made(&self, line: &str, body: &Value) -> String {
        let (_, made) = self.ask(line, &[], body).await;
        made["object"]["id"].as_str().unwrap_or_else(|| panic!("{line}: {made}")).to_owned()
    }

    /// A paused Agent, so that what comes for it stays in the queue.
    pub(super) async fn paused_agent(&self, name: &str) -> String {
        let agent = json!({"name": name, "runtime": "command", "command": ["/bin/cat"]});
        let id = self.made("POST /v1/agents", &agent).await;
        assert_eq!(self.ask(&format!("POST /v1/agents/{name}/pause"), &[], &json!({})).await.0, 200);
        id
    }

    /// A Slack Connection that nothing serves.
    pub(super) async fn connection(&self) -> String {
        let connect =
            json!({"provider": "slack", "accountRef": "A1", "scopeRef": "T1", "credentialRef": "env:SLACK"});
        self.made("POST /v1/connections", &connect).await
    }

    pub(super) async fn send(&self, text: &str) -> Reply {
        let mut stream = UnixStream::connect(&self.socket).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        read_reply(&mut stream).await
    }

    pub(super) async fn end(self) {
        self.hub.stop(Duration::ZERO).await;
        self.stop.cancel();
        self.task.await.unwrap();
    }
}

/// The owner's first minutes: an Agent, a Connection, an Address and a Membership, changed under version checks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_are_made_changed_and_listed() {
    let whole = Whole::start().await;
    let agent = json!({"name": "docs", "runtime": "command", "command": ["/bin/cat"]});
    let (status, plan) = whole.ask("POST /v1/agents?dryRun=true", &[], &agent).await;
    assert_eq!((status, &plan["dryRun"]), (200, &json!(true)), "{plan}");
    let (status, created) = whole.ask("POST /v1/agents", &[], &agent).await;
    assert_eq!((status, &created["created"]), (201, &json!(true)), "{created}");
    assert_eq!(whole.ask("POST /v1/agents", &[], &agent).await.1["code"], "already_exists");
    let (_, paused) = whole.ask("POST /v1/agents/docs/pause", &["if-match: \"1\""], &Value::Null).await;
    assert_eq!(paused["object"]["version"], 2, "{paused}");
    let (status, stale) = whole.ask("POST /v1/agents/docs/resume", &["if-match: \"1\""], &Value::Null).await;
    assert_eq!((status, &stale["code"]), (409, &json!("version_conflict")), "{stale}");

    let connect =
        json!({"provider": "slack", "accountRef": "A1", "scopeRef": "T1", "credentialRef": "env:SLACK"});
    let (status, connection) = whole.ask("POST /v1/connections", &[], &connect).await;
    assert_eq!(status, 201, "{connection}");
    let con = connection["object"]["id"].as_str().unwrap().to_owned();
    let bind = json!({"connectionId": con, "externalIdentity": "slack://T1/U1"});
    let (status, address) = whole.ask("POST /v1/agents/docs/addresses", &[], &bind).await;
    assert_eq!(status, 201, "{address}");
    let adr = address["object"]["id"].as_str().unwrap().to_owned();
    let set = json!({"conversationType": "channel", "purpose": "Questions"});
    let path = format!("PUT /v1/addresses/{adr}/conversations/C1");
    let (status, membership) = whole.ask(&path, &[], &set).await;
    assert_eq!(status, 201, "{membership}");
    assert_eq!(whole.ask(&path, &[], &set).await.0, 200);

    for list in ["agents", "connections", "addresses", "memberships"] {
        let (status, page) = whole.ask(&format!("GET /v1/{list}"), &[], &Value::Null).await;
        assert_eq!((status, page["items"].as_array().map(Vec::len)), (200, Some(1)), "{list} {page}");
    }
    for list in [
        "inbox",
        "outbox",
        "refusals",
        "refusals/counts",
        "candidates",
        "notices",
        "policy/releases",
        "agents/docs/thread",
    ] {
        let (status, page) = whole.ask(&format!("GET /v1/{list}"), &[], &Value::Null).await;
        assert_eq!((status, page["items"].is_array()), (200, true), "{list} {page}");
    }
    for path in ["agents/docs", "status", "audit", "audit/verify", "readyz"] {
        let (status, answer) = whole.ask(&format!("GET /v1/{path}"), &[], &Value::Null).await;
        assert_eq!(status, 200, "{path} {answer}");
    }
    let (_, health) = whole.ask(&format!("GET /v1/connections/{con}/health"), &[], &Value::Null).await;
    assert!(health["state"].is_string(), "{health}");
    assert_eq!(whole.ask("GET /v1/where?q=slack:C1/170.2", &[], &Value::Null).await.1["code"], "never_seen");
    whole.end().await;
}

/// An Agent is shown the Candidates of its own Addresses, also when it names those of another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn candidates_are_shown_to_their_own_agent() {
    let whole = Whole::start().await;
    let mut agents = Vec::new();
    for name in ["a", "b"] {
        let agent = json!({"name": name, "runtime": "command", "command": ["/bin/cat"]});
        let (_, made) = whole.ask("POST /v1/agents", &[], &agent).await;
        agents.push(Principal::Agent(made["object"]["id"].as_str().unwrap().parse().unwrap()));
    }
    let connect =
        json!({"provider": "slack", "accountRef": "A1", "scopeRef": "T1", "credentialRef": "env:SLACK"});
    let (_, made) = whole.ask("POST /v1/connections", &[], &connect).await;
    let con = made["object"]["id"].as_str().unwrap();
    let bind = json!({"connectionId": con, "externalIdentity": "slack://T1/U1"});
    let (_, made) = whole.ask("POST /v1/agents/a/addresses", &[], &bind).await;
    let adr = made["object"]["id"].as_str().unwrap().to_owned();
    let seen = Seen {
        conversation_id: "C1".to_owned(),
        conversation_type: ConversationType::Channel,
        display_name: "plans".to_owned(),
        description: String::new(),
        bot_is_member: true,
    };
    let act = whole.hub.act(Principal::Hub);
    whole.hub.store().put_candidates(act, con.parse().unwrap(), vec![seen]).await.unwrap();
    let desk = doors(&whole.hub).desk;
    let all = query::Candidates::default();
    let of_agent = query::Candidates { agent: Some("a".to_owned()), ..query::Candidates::default() };
    let of_address = query::Candidates { address: Some(adr), ..query::Candidates::default() };
    for query in [all, of_agent, of_address] {
        for (who, count) in [(&Principal::Owner, 1), (&agents[0], 1), (&agents[1], 0)] {
            let page = desk.candidates(who.clone(), query.clone()).await.unwrap();
            assert_eq!(page.items.len(), count, "{who} {query:?}");
        }
    }
    whole.end().await;
}

/// The cursor of a page of audit rows leads to the next one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn audit_rows_come_page_by_page() {
    let whole = Whole::start().await;
    for name in ["a", "b"] {
        let agent = json!({"name": name, "runtime": "command", "command": ["/bin/cat"]});
        assert_eq!(whole.ask("POST /v1/agents", &[], &agent).await.0, 201);
    }
    let (_, first) = whole.ask("GET /v1/audit?limit=1", &[], &Value::Null).await;
    let cursor = first["nextCursor"].as_str().unwrap();
    let next = format!("GET /v1/audit?limit=1&cursor={cursor}");
    let (_, second) = whole.ask(&next, &[], &Value::Null).await;
    let seq = |page: &Value| page["items"][0]["seq"].as_u64().unwrap();
    assert_eq!(seq(&second), seq(&first) + 1, "{second}");
    let (status, refused) = whole.ask("GET /v1/audit?cursor=x", &[], &Value::Null).await;
    assert_eq!((status, &refused["code"]), (410, &json!("cursor_expired")), "{refused}");
    whole.end().await;
}

/// ID-1, ID-4: a connector token is shown once, reaches no route of this API, and ends when revoked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn id_4_connector_tokens() {
    let whole = Whole::start().await;
    let connect = json!({"provider": "slack", "accountRef": "A1", "credentialRef": "env:SLACK"});
    let con =
        whole.ask("POST /v1/connections", &[], &connect).await.1["object"]["id"].as_str().unwrap().to_owned();
    let (status, issued) = whole.ask(&format!("POST /v1/connections/{con}/tokens"), &[], &json!({})).await;
    assert_eq!(status, 201, "{issued}");
    let (id, token) = (issued["id"].as_str().unwrap(), issued["token"].as_str().unwrap());
    let bearer = format!("authorization: Bearer {token}");
    assert_eq!(whole.ask("GET /v1/agents", &[&bearer], &Value::Null).await.1["code"], "forbidden");
    let path = format!("DELETE /v1/connections/{con}/tokens/{id}");
    assert_eq!(whole.ask(&path, &[], &Value::Null).await.0, 204);
    assert_eq!(whole.ask("GET /v1/agents", &[&bearer], &Value::Null).await.1["code"], "unauthenticated");
    let rows = whole.ask("GET /v1/audit", &[], &Value::Null).await.1.to_string();
    assert!(!rows.contains(token));
    assert_eq!(whole.hub.act(Principal::Owner).principal, Principal::Owner);
    whole.end().await;
}

/// Messaging 9.4: a change of the owner comes out of the stream; stored events are read again from a place.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_come_out_of_the_stream() {
    let whole = Whole::start().await;
    let agent = json!({"name": "docs", "runtime": "command", "command": ["/bin/cat"]});
    assert_eq!(whole.ask("POST /v1/agents", &[], &agent).await.0, 201);
    let stored = whole.send(&request("GET /v1/events?follow=false", "localhost", &[], "")).await;
    assert!(
        stored.body.contains("event: config.changed")
            && stored.body.contains("\nid: ") | stored.body.starts_with("id: ")
    );
    let mut stream = UnixStream::connect(&whole.socket).await.unwrap();
    stream.write_all(request("GET /v1/events", "localhost", &[], "").as_bytes()).await.unwrap();
    stream.readable().await.unwrap();
    assert_eq!(whole.ask("POST /v1/agents/docs/pause", &[], &json!({})).await.0, 200);
    let mut text = String::new();
    while !text.contains("event: config.changed") {
        let mut chunk = [0; 4_096];
        let read = tokio::io::AsyncReadExt::read(&mut stream, &mut chunk);
        let bytes =
            tokio::time::timeout(Duration::from_secs(10), read).await.expect("an event in time").unwrap();
        assert!(bytes > 0, "the stream ended: {text}");
        text.push_str(&String::from_utf8_lossy(&chunk[..bytes]));
    }
    drop(stream);
    whole.end().await;
}

/// Artifacts: stored under what was announced, or not at all; given out as bytes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn artifacts_go_in_and_out() {
    let whole = Whole::start().await;
    let raw = "content-type: application/octet-stream";
    let wrong = format!("POST /v1/artifacts?name=a.txt&sha256={}", "0".repeat(64));
    let refused = whole.send(&request(&wrong, "localhost", &[raw], "hello")).await;
    assert!(refused.body.contains("artifact_changed"), "{}", refused.body);
    let stored = whole.send(&request("POST /v1/artifacts?name=a.txt", "localhost", &[raw], "hello")).await;
    assert_eq!(stored.status, 201, "{}", stored.body);
    let artifact: Value = serde_json::from_str(&stored.body).unwrap();
    let path = format!("GET /v1/artifacts/{}", artifact["id"].as_str().unwrap());
    let given = whole.send(&request(&path, "localhost", &[], "")).await;
    assert_eq!((given.status, given.body.as_str()), (200, "hello"));
    assert_eq!(given.header("content-disposition"), Some("attachment"));
    whole.end().await;
}
