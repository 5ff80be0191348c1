//! Compares what people saw with what the store says.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use loom_api::routes;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::stream::Stream;

/// Longest time until everything has settled after the last kill: a look-up that a kill cut short comes again
/// after five minutes.
const SETTLE_LIMIT: Duration = Duration::from_secs(400);
const PAUSE: Duration = Duration::from_millis(500);

/// What the comparison found.
#[derive(Debug, Default)]
pub(super) struct Figures {
    starts: u32,
    messages: usize,
    retried: usize,
    lost: Vec<String>,
    doubled: Vec<String>,
    misplaced: Vec<String>,
    unknown: Vec<String>,
    unfinished: Vec<String>,
    without_receipt: Vec<String>,
    without_message: Vec<String>,
    unacked: usize,
    settled_seconds: u64,
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Figures {
            starts, messages, retried, lost, doubled, unknown, unfinished, settled_seconds, ..
        } = self;
        write!(
            f,
            "{starts} starts, {messages} messages, {retried} let run again by the owner, settled in {settled_seconds} s: \
             {} lost, {} doubled, {} unknown, {} unfinished",
            lost.len(),
            doubled.len(),
            unknown.len(),
            unfinished.len()
        )
    }
}

impl Figures {
    pub(super) fn assert_nothing_lost_doubled_or_unknown(&self) {
        let all = [
            ("lost", &self.lost),
            ("doubled", &self.doubled),
            ("in another place", &self.misplaced),
            ("left unknown", &self.unknown),
            ("not finished", &self.unfinished),
            ("seen without a receipt", &self.without_receipt),
            ("receipts of nothing", &self.without_message),
        ];
        for (what, found) in all {
            assert!(found.is_empty(), "{what}: {found:#?}\nnot finished: {:#?}", self.unfinished);
        }
        assert_eq!(self.unacked, 0, "events without an acknowledgement");
    }
}

/// Waits until nothing is open any more, then compares.
pub(super) async fn agreement(stream: &mut Stream) -> Figures {
    let started = Instant::now();
    while started.elapsed() < SETTLE_LIMIT && !is_settled(stream).await {
        stream.tend().await;
        tokio::time::sleep(PAUSE).await;
    }
    let settled_seconds = started.elapsed().as_secs();
    let mut figures = compare(stream).await;
    figures.settled_seconds = settled_seconds;
    stream.scene.world.loom(&["audit", "verify", "--json"]).await.ok();
    figures
}

/// Everything asked has been answered, and neither queue holds anything open.
async fn is_settled(stream: &Stream) -> bool {
    let world = &stream.scene.world;
    let seen = answers(stream);
    if !stream.asked.iter().all(|asked| seen.contains_key(&asked.token)) {
        return false;
    }
    let inbox = world.all(routes::INBOX, &json!({"open": true})).await;
    let outbox = world.all(routes::OUTBOX, &json!({})).await;
    let is_sent = |item: &Value| item["state"] == "sent";
    inbox.is_some_and(|open| open.is_empty()) && outbox.is_some_and(|all| all.iter().all(is_sent))
}

/// Places of the answers by token.
fn answers(stream: &Stream) -> BTreeMap<String, Vec<(String, Option<String>)>> {
    let mut found: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for message in stream.scene.world.twin.ledger().by_app() {
        if let Some(token) = message.text.strip_prefix("answer ") {
            found
                .entry(token.trim().to_owned())
                .or_default()
                .push((message.channel.clone(), message.thread_ts.clone()));
        }
    }
    found
}

async fn compare(stream: &Stream) -> Figures {
    let world = &stream.scene.world;
    let mut figures = Figures {
        starts: world.starts(),
        messages: stream.asked.len(),
        retried: stream.retried,
        unacked: world.twin.counters().unacked.len(),
        ..Figures::default()
    };
    let seen = answers(stream);
    for asked in &stream.asked {
        let places = seen.get(&asked.token).cloned().unwrap_or_default();
        match places.as_slice() {
            [] => figures.lost.push(path_of(stream, &asked.token).await),
            [place] if *place == (asked.channel.clone(), asked.thread.clone()) => {}
            [place] => figures.misplaced.push(format!("{} {place:?}", asked.token)),
            _ => figures.doubled.push(format!("{} {places:?}", asked.token)),
        }
    }
    store_side(stream, &mut figures).await;
    figures
}

/// What became of a message that nobody answered: where it stands on the platform, and its path in Loom.
async fn path_of(stream: &Stream, token: &str) -> String {
    let world = &stream.scene.world;
    let ledger = world.twin.ledger();
    let Some(message) = ledger.messages.iter().find(|m| !m.by_app && m.text.ends_with(token)) else {
        return format!("{token}: nobody wrote it");
    };
    let place = format!("slack:{}/{}", message.channel, message.ts);
    let found = world.loom(&["where", &place]).await;
    format!("{token} at {place} in {:?}: {found}", message.thread_ts)
}

/// The store's own view: everything final, and a Receipt for each message that people saw, and no other.
async fn store_side(stream: &Stream, figures: &mut Figures) {
    let world = &stream.scene.world;
    let mut receipts = BTreeSet::new();
    for item in world.all(routes::OUTBOX, &json!({})).await.unwrap() {
        let line = format!("{} {} {}", item["id"], item["state"], item["parts"][0]["text"]);
        match item["state"].as_str().unwrap_or_default() {
            "sent" => {}
            "unknown" => figures.unknown.push(line),
            _ => figures.unfinished.push(line),
        }
        let channel = item["conversation"]["conversationId"].as_str().unwrap_or_default();
        for part in item["parts"].as_array().unwrap() {
            if let Some(message) = part["receipt"]["externalMessageId"].as_str() {
                receipts.insert((channel.to_owned(), message.to_owned()));
            }
        }
    }
    for item in world.all(routes::INBOX, &json!({})).await.unwrap() {
        if item["item"]["state"] != "handled" {
            figures.unfinished.push(format!(
                "{} {} {} {}",
                item["item"]["id"],
                item["item"]["state"],
                item["item"]["stateReason"],
                item["message"]["content"]["text"]
            ));
        }
    }
    let shown: BTreeSet<_> =
        world.twin.ledger().by_app().map(|message| (message.channel.clone(), message.ts.clone())).collect();
    figures
        .without_receipt
        .extend(shown.difference(&receipts).map(|(channel, ts)| format!("{channel} {ts}")));
    figures
        .without_message
        .extend(receipts.difference(&shown).map(|(channel, ts)| format!("{channel} {ts}")));
}
