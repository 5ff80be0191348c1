//! Webhooks: delivered until they are taken, received once, and an Agent's POST behind a gate.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use loom_capabilities::http_webhook::signature::{Scheme, SigningKey, verify};
use loom_secrets::Secret;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::task::JoinHandle;

use crate::harness::{LONG, SOON, Setup, World, eventually};

/// A request that arrived: first line, headers in lower case, body.
#[derive(Debug, Clone)]
struct Seen {
    line: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Seen {
    fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }
}

/// A receiver that answers with the statuses it was given, the last one for ever.
struct Receiver {
    url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: JoinHandle<()>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Receiver {
    async fn start(statuses: &'static [u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/in", listener.local_addr().unwrap());
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let kept = seen.clone();
        let task = tokio::spawn(async move {
            let mut at = 0;
            while let Ok((mut socket, _)) = listener.accept().await {
                let Some(request) = read(&mut socket).await else { continue };
                kept.lock().unwrap().push(request);
                let status = statuses[at.min(statuses.len() - 1)];
                at += 1;
                let answer = format!(
                    "HTTP/1.1 {status} X\r\nlocation: /x\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"
                );
                // Whoever asked may be gone.
                let _ = socket.write_all(answer.as_bytes()).await;
                let _ = socket.shutdown().await;
            }
        });
        Receiver { url, seen, task }
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn read(socket: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let mut lines = head.lines();
            let line = lines.next()?.to_owned();
            let headers: Vec<(String, String)> = lines
                .filter_map(|line| line.split_once(": "))
                .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
                .collect();
            let length = headers.iter().find(|(name, _)| name == "content-length");
            let length = length.and_then(|(_, value)| value.parse::<usize>().ok()).unwrap_or(0);
            if body.len() >= length {
                return Some(Seen { line, headers, body: body.to_owned() });
            }
        }
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

fn secret(byte: u8) -> String {
    format!("whsec_{}", base64::engine::general_purpose::STANDARD.encode([byte; 32]))
}

async fn hub() -> World {
    let variables = vec![
        ("HOOK_A".to_owned(), secret(1)),
        ("HOOK_B".to_owned(), secret(2)),
        ("HOOK_BLANK".to_owned(), String::new()),
    ];
    let mut world = World::new(Setup { variables, ..Setup::default() }).await;
    std::fs::write(world.work().join("data.json"), r#"{"n":1}"#).unwrap();
    world.up().await;
    world
}

async fn ask(world: &World, line: &str) -> Value {
    world.line(&format!("value-connectors http-webhook {line} --json")).await.ok().json()
}

async fn delivery(world: &World, state: &str) -> Value {
    eventually(&format!("a delivery that is {state}"), LONG, async || {
        let shown = ask(world, "endpoint show hooks").await;
        let one = shown["deliveries"].as_array()?.first()?.clone();
        (one["state"] == state).then_some(one)
    })
    .await
}

/// CAP-110, CAP-111: a delivery is tried again with its id and a new time until it is taken; both secrets sign.
#[tokio::test(flavor = "multi_thread")]
async fn cap_111_a_delivery_is_tried_until_it_is_taken() {
    let mut world = hub().await;
    let receiver = Receiver::start(&[302, 200]).await;
    ask(&world, &format!("endpoint add hooks --url {} --secret-ref env:HOOK_A", receiver.url)).await;
    ask(&world, &format!("endpoint add hooks --url {} --secret-ref env:HOOK_B", receiver.url)).await;
    let queued = ask(&world, "deliver --endpoint hooks --type a.b --data data.json").await;
    let again = format!(
        "deliver --endpoint hooks --type a.b --data data.json --id {}",
        queued["id"].as_str().unwrap()
    );
    assert_eq!(ask(&world, &again).await["seq"], queued["seq"], "one id, one delivery");
    eventually("the first attempt", SOON, async || (!receiver.seen().is_empty()).then_some(())).await;
    world.kill().await;
    world.up().await;
    let done = delivery(&world, "delivered").await;
    assert_eq!(done["last_status"], 200);
    let seen = receiver.seen();
    assert!(seen.len() >= 2 && seen.iter().all(|one| one.line.starts_with("POST /in ")), "{seen:?}");
    for one in &seen {
        assert_eq!(one.header("webhook-id"), queued["id"].as_str().unwrap());
        assert_eq!(one.body, seen[0].body);
        let at: i64 = one.header("webhook-timestamp").parse().unwrap();
        for byte in [1, 2] {
            let secrets = [Secret::new(secret(byte))];
            verify(Scheme::Standard, &one.headers, one.body.as_bytes(), &secrets, at).unwrap();
        }
    }
    assert_ne!(seen[0].header("webhook-timestamp"), seen[seen.len() - 1].header("webhook-timestamp"));
    let body: Value = serde_json::from_str(&seen[0].body).unwrap();
    assert_eq!((&body["type"], &body["data"]["n"]), (&"a.b".into(), &1.into()));
}

/// CAP-111: 410 switches the endpoint off and tells the owner; `--once` is one attempt from here.
#[tokio::test(flavor = "multi_thread")]
async fn cap_111_gone_switches_off_and_once_is_one_attempt() {
    let world = hub().await;
    let gone = Receiver::start(&[410]).await;
    ask(&world, &format!("endpoint add hooks --url {} --secret-ref env:HOOK_A", gone.url)).await;
    ask(&world, "deliver --endpoint hooks --type a.b --data data.json").await;
    delivery(&world, "dead").await;
    let shown = ask(&world, "endpoint show hooks").await;
    assert_eq!((&shown["enabled"], &shown["disabled_reason"]), (&false.into(), &"gone".into()));
    let refused = world
        .line("value-connectors http-webhook deliver --endpoint hooks --type a.b --data data.json --json")
        .await;
    refused.fails("disabled", 1);
    let notices = world.line("notices list --json").await.ok().json().to_string();
    assert!(notices.contains("webhook_disabled") && notices.contains("webhook_dead_letter"), "{notices}");
    let good = Receiver::start(&[200]).await;
    ask(
        &world,
        &format!("endpoint add once --url {} --secret-ref env:HOOK_A --envelope cloudevents", good.url),
    )
    .await;
    let words = ["value-connectors", "http-webhook", "deliver", "--endpoint", "once", "--type", "a.b"];
    let words: Vec<&str> =
        words.into_iter().chain(["--data", "data.json", "--once", "--id", "msg_1", "--json"]).collect();
    let sent = world.loom_with(&words, b"", &[("HOOK_A", &secret(1))]).await.ok().json();
    assert_eq!((&sent["ok"], &sent["status"]), (&true.into(), &200.into()));
    let seen = good.seen();
    assert_eq!((seen.len(), seen[0].header("content-type")), (1, "application/cloudevents+json"));
    assert!(!sent.to_string().contains("whsec_"));
}

fn lines_of(headers: &[(String, String)], end: &str) -> String {
    headers.iter().fold(String::new(), |lines, (name, value)| lines + name + ": " + value + end)
}

/// Sends a signed delivery to a route of the hub; gives the status.
async fn post(world: &World, route: &str, headers: &[(String, String)], body: &str) -> u16 {
    let mut stream = UnixStream::connect(world.home().join("run/loom.sock")).await.unwrap();
    let more = lines_of(headers, "\r\n");
    let request = format!(
        "POST /v1/hooks/{route} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n{more}\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    text.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{text:?}"))
}

fn signed(id: &str, at: i64, body: &str, byte: u8) -> Vec<(String, String)> {
    let key = SigningKey::parse(&Secret::new(secret(byte))).unwrap();
    let signature = key.sign(id, at, body.as_bytes());
    let all = [("content-type", "application/json"), ("webhook-id", id), ("webhook-signature", &signature)];
    let mut all: Vec<_> = all.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    all.push(("webhook-timestamp".to_owned(), at.to_string()));
    all
}

/// CAP-112, CAP-113: what is signed is recorded once; what is not is refused with one reason, listed and counted.
#[tokio::test(flavor = "multi_thread")]
async fn cap_112_cap_113_inbound_deliveries_are_verified_and_recorded_once() {
    let world = hub().await;
    ask(&world, "endpoint add hooks --url https://hooks.example/in --secret-ref env:HOOK_A").await;
    ask(&world, "endpoint add blank --url https://hooks.example/in --secret-ref env:HOOK_BLANK").await;
    ask(&world, "endpoint add none --url https://hooks.example/in --secret-ref env:HOOK_NOT_SET").await;
    #[expect(clippy::disallowed_methods, reason = "a sender has a clock of its own")]
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let now = i64::try_from(now).unwrap();
    let body = r#"{"type":"a.b","data":{"n":1}}"#;
    let good = signed("msg_1", now, body, 1);
    assert_eq!(post(&world, "hooks", &good, body).await, 202);
    assert_eq!(post(&world, "hooks", &good, body).await, 200);
    for missing in ["blank", "none", "nowhere", "..%2Fx"] {
        assert_eq!(post(&world, missing, &good, body).await, 404, "{missing}");
    }
    assert_eq!(post(&world, "hooks", &good, &body.replace(':', ": ")).await, 401);
    assert_eq!(post(&world, "hooks", &signed("msg_2", now, body, 2), body).await, 401);
    assert_eq!(post(&world, "hooks", &signed("msg_3", now - 400, body, 1), body).await, 401);
    let mut twice = good.clone();
    twice.push(("webhook-id".to_owned(), "msg_1".to_owned()));
    assert_eq!(post(&world, "hooks", &twice, body).await, 401);
    let of_type = |kind: &str| {
        let mut headers = signed("msg_4", now, body, 1);
        headers[0].1 = kind.to_owned();
        headers
    };
    assert_eq!(post(&world, "hooks", &of_type("text/html"), body).await, 415);
    let large = "x".repeat(1024 * 1024 + 1);
    assert_eq!(post(&world, "hooks", &good, &large).await, 413);
    let batch = r#"[{"specversion":"1.0","id":"1","source":"s","type":"t"},{"specversion":"1.0","id":"2","source":"s","type":"t"}]"#;
    let mut headers = signed("msg_5", now, batch, 1);
    headers[0].1 = "application/cloudevents-batch+json".to_owned();
    assert_eq!(post(&world, "hooks", &headers, batch).await, 202);
    let received = ask(&world, "receive --route hooks").await;
    assert_eq!(received["items"].as_array().unwrap().len(), 3);
    let nowhere = world.line("value-connectors http-webhook receive --route nope --json").await;
    assert!(nowhere.fails("not_found", 1)["hint"].to_string().contains("endpoint list"));
    let shown = ask(&world, "endpoint show hooks").await;
    let reasons: Vec<&str> =
        shown["refusals"].as_array().unwrap().iter().map(|one| one["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["header_repeated", "stale", "signature_invalid", "signature_invalid"]);
    let bytes = world.client().get(loom_api::routes::metrics()).run_bytes().await.unwrap();
    let metrics = String::from_utf8_lossy(&bytes).into_owned();
    assert!(metrics.contains("loom_hook_refusals_total{reason=\"signature_invalid\"} 2"), "{metrics}");
    std::fs::write(world.work().join("headers.txt"), lines_of(&good, "\n")).unwrap();
    std::fs::write(world.work().join("body.json"), body).unwrap();
    let words =
        ["value-connectors", "http-webhook", "verify", "--scheme", "standard", "--headers", "headers.txt"];
    let words: Vec<&str> =
        words.into_iter().chain(["--body", "body.json", "--secret-ref", "env:HOOK", "--json"]).collect();
    let verdict = world.loom_with(&words, b"", &[("HOOK", &secret(1))]).await.ok().json();
    assert_eq!(verdict["ok"], true);
    let wrong = world.loom_with(&words, b"", &[("HOOK", &secret(2))]).await;
    assert_eq!((wrong.code, &wrong.json()["reason"]), (6, &"signature_invalid".into()));
}
