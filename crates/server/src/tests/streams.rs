//! Event streams (ID-10, messaging specification 9.4).

use std::sync::Arc;
use std::time::Duration;

use loom_capabilities::{
    Begun, Catalog, PayloadStore, TurnCall, TurnEnd, TurnEvent, TurnOrder, TurnPlan, TurnRoom, World,
};
use loom_domain::{AgentId, Code, ConversationType, Principal};
use loom_store::ops::candidates::Seen;
use loom_transport::MockBackend;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};

use super::house::{House, bearer, event, house, house_with, read_reply, request};
use super::whole::Whole;
use crate::Scopes;

struct Reader {
    stream: TcpStream,
    text: String,
}

impl Reader {
    async fn open(house: &House, path: &str, headers: &[&str]) -> Reader {
        let token = bearer(&house.hub.token(9, Principal::Owner, Scopes::All));
        let mut all = vec![token.as_str()];
        all.extend(headers);
        Reader::open_as(house, path, &all).await
    }

    async fn open_as(house: &House, path: &str, headers: &[&str]) -> Reader {
        let mut stream = house.tcp().await;
        let text = request(&format!("GET {path}"), &house.address.to_string(), headers, "");
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut reader = Reader { stream, text: String::new() };
        reader.until("\r\n\r\n").await;
        reader
    }

    async fn until(&mut self, wanted: &str) {
        let read = async {
            let mut chunk = [0; 4_096];
            while !self.text.contains(wanted) {
                let bytes = self.stream.read(&mut chunk).await.unwrap();
                assert!(bytes > 0, "the stream ended without {wanted:?}: {}", self.text);
                self.text.push_str(&String::from_utf8_lossy(&chunk[..bytes]));
            }
        };
        tokio::time::timeout(Duration::from_secs(10), read).await.expect("the event comes in time");
    }

    async fn read_on_to_end(&mut self) {
        let mut bytes = Vec::new();
        let read = self.stream.read_to_end(&mut bytes);
        tokio::time::timeout(Duration::from_secs(10), read).await.unwrap().unwrap();
        self.text.push_str(&String::from_utf8_lossy(&bytes));
    }
}

/// ID-10: `Last-Event-ID` resumes without a gap or a repeat, then live events follow.
#[tokio::test]
async fn id_10_resume_then_live() {
    let house = house().await;
    house.hub.stored.lock().unwrap().extend((1..=5).map(|seq| event(seq, "inbox.changed", None)));
    let mut reader = Reader::open(&house, "/v1/events?since=1", &["last-event-id: 3"]).await;
    assert!(reader.text.contains("text/event-stream"));
    reader.until("id: 5").await;
    for seq in 5..=6 {
        house.hub.live.send(event(seq, "outbox.changed", None)).unwrap();
    }
    reader.until("id: 6\nevent: outbox.changed\ndata: {\"seq\":6}\n\n").await;
    assert!(!reader.text.contains("id: 3\n") && reader.text.matches("id: 5\n").count() == 1);
}

/// ID-10: what is older than the stored window gets a `reset`, and goes on live.
#[tokio::test]
async fn id_10_older_than_the_window_resets() {
    let house = house().await;
    *house.hub.gone_before.lock().unwrap() = 100;
    let mut reader = Reader::open(&house, "/v1/events?since=7", &[]).await;
    reader.until("event: reset").await;
    house.hub.live.send(event(101, "inbox.changed", None)).unwrap();
    reader.until("id: 101").await;
}

/// `follow=false` ends the stream after what is stored.
#[tokio::test]
async fn id_10_stored_events_only() {
    let house = house().await;
    house.hub.stored.lock().unwrap().extend((1..=600).map(|seq| event(seq, "inbox.changed", None)));
    let reply = house.as_owner("GET /v1/events?follow=false", &[], "").await;
    assert_eq!(reply.body.matches("event: inbox.changed").count(), 600);
}

/// ID-10: comments keep a quiet stream alive.
#[tokio::test]
async fn id_10_comments_come_by_themselves() {
    let house = house_with(|config| config.streams.comment_every = Duration::from_millis(20)).await;
    let mut reader = Reader::open(&house, "/events", &[]).await;
    reader.until(":\n\n").await;
}

/// ID-10: no more streams than the limit; a closed one frees its place.
#[tokio::test]
async fn id_10_streams_are_counted() {
    let house = house_with(|config| config.streams.streams_max = 1).await;
    let reader = Reader::open(&house, "/v1/events", &[]).await;
    let second = house.as_owner("GET /v1/events", &[], "").await;
    assert_eq!((second.status, second.code()), (429, Some(Code::RateLimited)));
    drop(reader);
    let deadline = tokio::time::Instant::now() + Duration::from_secs(5);
    loop {
        let mut stream = UnixStream::connect(&house.socket).await.unwrap();
        stream.write_all(request("GET /v1/events", "localhost", &[], "").as_bytes()).await.unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).await.unwrap();
        if &head == b"HTTP/1.1 200" {
            break;
        }
        assert!(tokio::time::Instant::now() < deadline, "the place is free again");
    }
}

/// ID-10, messaging 9.4: a reader that falls 1,024 events behind is cut with a `reset`.
#[tokio::test]
async fn id_10_slow_readers_are_cut() {
    let house = house().await;
    let mut reader = Reader::open(&house, "/v1/events", &[]).await;
    // Nothing is polled between these sends, so the stream's queue overflows.
    for seq in 1..=1_100 {
        house.hub.live.send(event(seq, "inbox.changed", None)).unwrap();
    }
    reader.read_on_to_end().await;
    assert!(reader.text.contains("event: reset") && !reader.text.contains("id: 1100"));
}

/// Messaging 9.4: an Agent sees its own events only; types narrow further.
#[tokio::test]
async fn agents_see_their_own_events() {
    let house = house().await;
    let (own, other) = (AgentId::new(1, 1), AgentId::new(1, 2));
    let token = bearer(&house.hub.token(1, Principal::Agent(own.clone()), Scopes::All));
    let foreign = house.over_tcp(&format!("GET /v1/events?agent={other}&follow=false"), &[&token], "").await;
    assert_eq!(foreign.code(), Some(Code::Forbidden));
    let mut reader =
        Reader::open_as(&house, "/v1/events?types=inbox.changed,outbox.changed", &[&token]).await;
    house.hub.live.send(event(1, "inbox.changed", Some(&other))).unwrap();
    house.hub.live.send(event(2, "config.changed", None)).unwrap();
    house.hub.live.send(event(3, "turn.changed", Some(&own))).unwrap();
    house.hub.live.send(event(4, "outbox.changed", Some(&own))).unwrap();
    reader.until("id: 4").await;
    assert!(["id: 1\n", "id: 2\n", "id: 3\n"].iter().all(|id| !reader.text.contains(id)));
}

/// Changes at once, and how often: more than a socket's buffers and the queue of a stream hold together.
const CHANGES: usize = 50;
const ROUNDS: usize = 160;

/// A reader that takes nothing is cut, and misses nothing when it comes back with the last id it saw.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_234_a_slow_reader_is_cut_and_resumes_and_no_connection_notices() {
    let whole = Whole::start().await;
    let connection = whole.connection().await;
    whole.paused_agent("docs").await;
    let bind = json!({"connectionId": connection, "externalIdentity": "slack://T1/U1"});
    whole.made("POST /v1/agents/docs/addresses", &bind).await;
    let id: loom_domain::ConnectionId = connection.parse().unwrap();
    let state = || whole.hub.connection_health(&id).state;
    let before = (whole.hub.store().connection(id.clone()).await.unwrap(), state());
    let (_, start) = whole.hub.store().feed_range().await.unwrap();

    let mut slow = UnixStream::connect(&whole.socket).await.unwrap();
    slow.write_all(request("GET /v1/events", "localhost", &[], "").as_bytes()).await.unwrap();
    slow.readable().await.unwrap();
    let mut passed_on = whole.events.subscribe();
    for round in 0..ROUNDS {
        let act = whole.hub.act(Principal::Hub);
        whole.hub.store().put_candidates(act, id.clone(), renamed(round)).await.unwrap();
    }
    let (_, end) = whole.hub.store().feed_range().await.unwrap();
    let all_passed_on = async {
        // A receiver that is overtaken goes on with what is left.
        while !passed_on.recv().await.is_ok_and(|event| event.seq >= Some(end)) {}
    };
    tokio::time::timeout(Duration::from_secs(60), all_passed_on).await.expect("every event is passed on");

    let cut = read_reply(&mut slow).await;
    assert!(cut.body.contains("event: reset"), "the slow reader was not cut");
    let mut seen = ids(&cut.body);
    let last = format!("last-event-id: {}", seen.last().unwrap_or(&start));
    let rest = whole.send(&request("GET /v1/events?follow=false", "localhost", &[&last], "")).await;
    seen.extend(ids(&rest.body));
    assert!(!rest.body.contains("event: reset"));
    assert_eq!(seen, stored_after(&whole, start).await, "no gap and no repeat");
    for line in cut.body.lines().chain(rest.body.lines()) {
        let Some(data) = line.strip_prefix("data: ").filter(|data| *data != "{}") else { continue };
        let event: Value = serde_json::from_str(data).unwrap();
        assert!(
            event["type"] == "candidate.changed" && event["id"].as_str().is_some_and(|id| id.len() == 30),
            "{event}"
        );
    }
    assert_eq!((whole.hub.store().connection(id.clone()).await.unwrap(), state()), before);
    whole.end().await;
}

/// Reads on until a text is there.
async fn read_until(stream: &mut UnixStream, text: &mut String, wanted: &str) {
    let read = async {
        let mut chunk = [0; 4_096];
        while !text.contains(wanted) {
            let bytes = stream.read(&mut chunk).await.unwrap();
            assert!(bytes > 0, "the stream ended without {wanted:?}: {text}");
            text.push_str(&String::from_utf8_lossy(&chunk[..bytes]));
        }
    };
    tokio::time::timeout(Duration::from_secs(10), read).await.expect("the row comes in time");
}

/// CAP-126: the journal of a Turn is a stream: from its first row or behind the last one seen, row by row while somebody
/// works on the Turn, whoever that is, and no longer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cap_126_a_turn_is_followed_row_by_row() {
    let whole = Whole::start().await;
    let home = whole.socket.parent().unwrap().parent().unwrap().to_owned();
    let world = World::over(Arc::new(MockBackend::new()));
    let order = TurnOrder { connectors: vec![TurnCall::of("github_public_probe")], ..TurnOrder::new() };
    let plan = TurnPlan::make(&world, &Catalog::builtin(), &order).await.unwrap();
    let room = TurnRoom::new(&home, PayloadStore::new(&home));
    let Begun::New(id, mut journal) = room.begin(&world, &order, &plan).unwrap() else { panic!("it is new") };

    let path = format!("GET /v1/turns/{id}/events");
    let mut stream = UnixStream::connect(&whole.socket).await.unwrap();
    stream.write_all(request(&path, "localhost", &[], "").as_bytes()).await.unwrap();
    let mut text = String::new();
    read_until(&mut stream, &mut text, "id: 0\nevent: turn.planned\ndata: {").await;
    assert!(text.contains("content-type: text/event-stream"), "{text}");
    let connector_id = "github_public_probe".to_owned();
    let started = TurnEvent::ConnectorStarted { index: 0, connector_id };
    journal.append_async(whole.hub.now(), started).await.unwrap();
    read_until(&mut stream, &mut text, "id: 1\nevent: turn.connector_started\ndata: {").await;
    let over = TurnEvent::Committed { end: TurnEnd::Completed, error: None };
    journal.append_async(whole.hub.now(), over).await.unwrap();
    read_until(&mut stream, &mut text, "id: 2\nevent: turn.committed\ndata: {").await;
    read_until(&mut stream, &mut text, "\r\n0\r\n\r\n").await;

    let again = whole.send(&request(&path, "localhost", &["last-event-id: 1"], "")).await;
    assert_eq!((again.status, ids(&again.body)), (200, vec![2]), "{}", again.body);
    let all = whole.send(&request(&path, "localhost", &[], "")).await;
    assert_eq!(ids(&all.body), [0, 1, 2]);
    let nobody = path.replace(id.as_str(), "trn_01arz3ndektsv4rrffq69g5fav");
    assert_eq!(whole.send(&request(&nobody, "localhost", &[], "")).await.code(), Some(Code::NotFound));
    whole.end().await;
}

/// A snapshot of the platform in which every conversation has another name.
fn renamed(round: usize) -> Vec<Seen> {
    let seen = |n| Seen {
        conversation_id: format!("C{n}"),
        conversation_type: ConversationType::Channel,
        display_name: format!("name {round}"),
        description: String::new(),
        bot_is_member: true,
    };
    (0..CHANGES).map(seen).collect()
}

fn ids(stream: &str) -> Vec<u64> {
    stream.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect()
}

async fn stored_after(whole: &Whole, mut seq: u64) -> Vec<u64> {
    let mut stored = Vec::new();
    loop {
        let page = whole.hub.store().changes_since(seq, Vec::new(), None, 1_000).await.unwrap();
        let Some(last) = page.last() else { return stored };
        seq = last.seq;
        stored.extend(page.iter().map(|change| change.seq));
    }
}
