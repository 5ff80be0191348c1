//! Loom and the official Slack Node SDK answer the same mention; the twin's request logs of both must agree.
//!
//! The log's method name is the path below `/api/` (or `upload` for an upload URL), so calls of equal name went to
//! equal paths. Everything else of a call is compared value by value; [`DIFFERENCES`] is all that may differ.

use std::collections::BTreeMap;

use loom_twins::slack::{Config, LedgerMessage, Request, SlackTwin};
use serde_json::Value;

use crate::harness::{SOON, Scene};
use crate::peers_slack::node;

const QUESTION: &str = "please do it";
const ANSWER: &str = "echo: please do it";
const FILE_NAME: &str = "note.txt";
const FILE_TEXT: &str = "a note for the thread\n";

/// The calls of the scenario.
const SCENARIO: [&str; 7] = [
    "apps.connections.open",
    "reactions.add",
    "chat.postMessage",
    "files.getUploadURLExternal",
    "upload",
    "files.completeUploadExternal",
    "reactions.remove",
];

/// Reads that Loom makes beside the scenario, and what for.
const READS: [(&str, &str); 5] = [
    ("auth.test", "proves whose token it is before the Connection serves"),
    ("bots.info", "learns the app's id, so that its own messages are known"),
    ("conversations.list", "shows the owner which conversations can be served"),
    ("conversations.info", "learns the kind of a conversation when the mention comes before its message"),
    ("files.info", "finds the message of a shared file when the echo is late"),
];

/// Headers that an HTTP stack adds by itself; they say nothing about the call.
const STACK_HEADERS: [&str; 7] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "connection",
    "content-length",
    "sec-fetch-mode",
    "transfer-encoding",
];

/// One permitted difference: call, field, what the official client sends, what Loom sends, and why.
type Permitted = (&'static str, &'static str, Option<&'static str>, Option<&'static str>, &'static str);

const EVERY_CALL: &str = "every call";
const POST: &str = "chat.postMessage";
const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json; charset=utf-8";
const BYTES: &str = "application/octet-stream";
const METADATA: &str =
    r#"{"event_payload":{"att":"<id>","out":"<id>","part":"<id>"},"event_type":"loom_outbox"}"#;

#[rustfmt::skip]
const DIFFERENCES: [Permitted; 10] = [
    (EVERY_CALL, "header traceparent", None, Some("<trace>"), "ties the call to the Turn; Slack ignores it"),
    (EVERY_CALL, "header x-loom-request-id", None, Some("<id>"), "sent to loopback origins only"),
    (POST, "header content-type", Some(FORM), Some(JSON), "chat methods take both; JSON keeps true objects"),
    (POST, "argument text", Some(ANSWER), None, "the same words go as markdown_text"),
    (POST, "argument markdown_text", None, Some(ANSWER), "Agents write Markdown, which Slack renders itself"),
    (POST, "argument metadata", None, Some(METADATA), "the key by which a lost answer is looked up"),
    (POST, "argument unfurl_links", None, Some("false"), "an Agent's link fetches nothing by itself"),
    (POST, "argument unfurl_media", None, Some("false"), "an Agent's link fetches nothing by itself"),
    ("upload", "header content-type", Some("multipart/form-data"), Some(BYTES), "raw bytes stream from disk"),
    ("upload", "header authorization", Some("bot"), None, "the URL is its own secret; the token stays home"),
];

#[tokio::test(flavor = "multi_thread")]
async fn peers_slack_loom_asks_what_the_official_node_sdk_asks() {
    let (official, loom) = tokio::join!(official(), loom());
    assert_eq!(official.file, loom.file, "the same bytes arrived under the same name, in the thread");
    let mut found = Vec::new();
    for name in SCENARIO {
        let (ours, theirs) = (loom.calls_of(name), official.calls_of(name));
        assert_eq!((ours.len(), theirs.len()), (1, 1), "one {name} on each side");
        found.extend(differences(theirs[0], ours[0]));
    }
    found.extend(official.other_calls().map(|name| Difference::call(name, Some("sent"), None)));
    found.extend(loom.other_calls().map(|name| Difference::call(name, None, Some("sent"))));
    assert_explained(&found, &DIFFERENCES);
}

#[test]
fn peers_slack_an_argument_header_or_token_of_looms_own_is_a_difference() {
    let official = call("chat.postMessage", "bot", &[("channel", "C1"), ("text", "x")]);
    assert_eq!(differences(&official, &official.clone()), []);
    let extra = call("chat.postMessage", "bot", &[("channel", "C1"), ("text", "x"), ("as_user", "true")]);
    let found = differences(&official, &extra);
    assert_eq!(found[0].to_string(), "chat.postMessage argument as_user: official -, loom true");
    assert_eq!(unexplained(&found, &DIFFERENCES).len(), 1);
    for other in [
        call("chat.postMessage", "app", &[("channel", "C1"), ("text", "x")]),
        call("chat.postMessage", "bot", &[("channel", "C2"), ("text", "x")]),
        call("chat.postMessage", "bot", &[("channel", "C1")]),
    ] {
        assert_eq!(unexplained(&differences(&official, &other), &DIFFERENCES).len(), 1);
    }
}

/// What one side left behind in its twin.
struct Log {
    calls: Vec<Call>,
    /// Name, digest and thread of the shared file.
    file: (String, String, bool),
}

impl Log {
    /// Reads a finished scenario.
    fn of(twin: &SlackTwin) -> Self {
        let ledger = twin.ledger();
        let mention = ledger.messages.iter().find(|m| !m.by_app).unwrap().ts.clone();
        let in_thread = |m: &LedgerMessage| m.thread_ts.as_deref() == Some(mention.as_str());
        assert!(ledger.by_app().all(in_thread), "{:#?}", ledger.messages);
        let shared = ledger.by_app().find(|m| !m.files.is_empty()).unwrap();
        let file = &shared.files[0];
        let names = [(mention.as_str(), "<mention>"), (file.id.as_str(), "<file>")];
        let calls = twin.requests().iter().map(|request| Call::of(request, &names)).collect();
        Log { calls, file: (file.name.clone(), file.sha256.clone(), in_thread(shared)) }
    }

    fn calls_of(&self, name: &str) -> Vec<&Call> {
        self.calls.iter().filter(|call| call.name == name).collect()
    }

    /// Names of the calls beside the scenario, except Loom's reads.
    fn other_calls(&self) -> impl Iterator<Item = &str> {
        let names = self.calls.iter().map(|call| call.name.as_str());
        names.filter(|name| !SCENARIO.contains(name) && !READS.iter().any(|(read, _)| read == name))
    }
}

/// One call without what differs between any two runs.
#[derive(Debug, Clone)]
struct Call {
    name: String,
    fields: BTreeMap<String, String>,
}

impl Call {
    fn of(request: &Request, names: &[(&str, &str)]) -> Self {
        let mut fields = BTreeMap::new();
        fields.insert("verb".to_owned(), request.http_method.clone());
        fields.insert("outcome".to_owned(), format!("{} {}", request.status, request.outcome));
        // With arguments in the URL the body would be empty.
        let place = if request.body_bytes > 0 { "body" } else { "none" };
        fields.insert("payload".to_owned(), place.to_owned());
        for (name, value) in &request.headers {
            if !STACK_HEADERS.contains(&name.as_str()) {
                fields.insert(format!("header {name}"), header(name, value));
            }
        }
        for (name, value) in &request.arguments {
            fields.insert(format!("argument {name}"), plain(value, names));
        }
        Call { name: request.method.clone(), fields }
    }
}

/// The header without what is new in each call.
fn header(name: &str, value: &str) -> String {
    match name {
        "traceparent" => "<trace>".to_owned(),
        "x-loom-request-id" => "<id>".to_owned(),
        _ => value.split("; boundary=").next().unwrap_or_default().to_owned(),
    }
}

/// The value whatever encoding it came in, with stable names for ids and times.
fn plain(value: &Value, names: &[(&str, &str)]) -> String {
    let value = match value {
        Value::String(text) => serde_json::from_str(text)
            .ok()
            .filter(|inner: &Value| !inner.is_number() && !inner.is_string())
            .unwrap_or_else(|| value.clone()),
        other => other.clone(),
    };
    match stable(value, names) {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn stable(value: Value, names: &[(&str, &str)]) -> Value {
    match value {
        Value::String(text) => {
            let known = names.iter().find(|(id, _)| *id == text).map(|(_, name)| (*name).to_owned());
            let is_own = ["out_", "part_", "att_"].iter().any(|prefix| text.starts_with(prefix));
            Value::String(known.unwrap_or(if is_own { "<id>".to_owned() } else { text }))
        }
        Value::Array(items) => items.into_iter().map(|item| stable(item, names)).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (name, stable(value, names))).collect()
        }
        other => other,
    }
}

/// One field that is not the same on both sides.
#[derive(Debug, PartialEq, Eq)]
struct Difference {
    call: String,
    field: String,
    official: Option<String>,
    loom: Option<String>,
}

impl Difference {
    /// A whole call that only one side made.
    fn call(name: &str, official: Option<&str>, loom: Option<&str>) -> Self {
        let owned = |side: Option<&str>| side.map(str::to_owned);
        Difference {
            call: name.to_owned(),
            field: "call".to_owned(),
            official: owned(official),
            loom: owned(loom),
        }
    }

    fn is(&self, (call, field, official, loom, _): &Permitted) -> bool {
        (self.call == *call || *call == EVERY_CALL)
            && self.field == *field
            && self.official.as_deref() == *official
            && self.loom.as_deref() == *loom
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |side: &Option<String>| side.clone().unwrap_or_else(|| "-".to_owned());
        let (official, loom) = (shown(&self.official), shown(&self.loom));
        write!(out, "{} {}: official {official}, loom {loom}", self.call, self.field)
    }
}

fn differences(official: &Call, loom: &Call) -> Vec<Difference> {
    let mut fields: Vec<&String> = official.fields.keys().chain(loom.fields.keys()).collect();
    fields.sort();
    fields.dedup();
    let side = |call: &Call, field: &String| call.fields.get(field).cloned();
    let all = fields.into_iter().map(|field| Difference {
        call: official.name.clone(),
        field: field.clone(),
        official: side(official, field),
        loom: side(loom, field),
    });
    all.filter(|difference| difference.official != difference.loom).collect()
}

fn unexplained<'a>(found: &'a [Difference], table: &[Permitted]) -> Vec<&'a Difference> {
    found.iter().filter(|difference| !table.iter().any(|row| difference.is(row))).collect()
}

/// Every difference has its row, and every row its difference.
fn assert_explained(found: &[Difference], table: &[Permitted]) {
    let lines: Vec<String> = unexplained(found, table).iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "differences nobody explained:\n{}", lines.join("\n"));
    for row in table {
        assert!(found.iter().any(|difference| difference.is(row)), "a row without a difference: {row:?}");
    }
}

/// The scenario by the official client.
async fn official() -> Log {
    let twin = SlackTwin::start(Config::default()).await.unwrap();
    node("slack_differential.mjs", &[&twin.origin(), QUESTION, ANSWER, FILE_NAME, FILE_TEXT]).await;
    let log = finished(&twin).await;
    twin.shutdown().await;
    log
}

/// The scenario by a hub: its Agent answers the mention, then sends the file into the thread.
async fn loom() -> Log {
    let scene = Scene::new().await;
    let set = ["conversation", "set", &scene.address, "C0GENERAL", "--outbound-policy", "proactive"];
    scene.json(&set).await;
    let thread = scene.ann_mentions(QUESTION);
    scene.seen(ANSWER).await;
    scene.item_is(QUESTION, "handled").await;
    std::fs::write(scene.world.work().join(FILE_NAME), FILE_TEXT).unwrap();
    let to = ["integration", "send", "--from", "echo", "--to", &scene.channel, "--thread-id", &thread];
    let what = ["--idempotency-key", "note", "--file", FILE_NAME];
    scene.json(&[to.as_slice(), what.as_slice()].concat()).await;
    finished(&scene.world.twin).await
}

/// The log once the file is in the thread and the reaction is gone.
async fn finished(twin: &SlackTwin) -> Log {
    twin.wait_for_app_messages(2, SOON).await.unwrap();
    let gone = |twin: &SlackTwin| (!twin.requests_of("reactions.remove").is_empty()).then_some(());
    twin.wait_for(SOON, gone).await.unwrap();
    Log::of(twin)
}

/// A made-up call.
fn call(name: &str, token: &str, arguments: &[(&str, &str)]) -> Call {
    let pairs = arguments.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
    let request = Request {
        number: 1,
        method: name.to_owned(),
        http_method: "POST".to_owned(),
        headers: BTreeMap::from([("authorization".to_owned(), token.to_owned())]),
        arguments: pairs.collect(),
        body_bytes: 1,
        status: 200,
        outcome: "ok".to_owned(),
        at_ms: 0,
    };
    Call::of(&request, &[])
}
