//! The payload (`loom.value_payload/v1`): what a run leaves behind.

mod parts;

use std::collections::BTreeMap;

use loom_domain::{Error, Timestamp};
use loom_secrets::Report;
use serde::Serialize;
use serde_json::{Value, json};

use crate::projection::Capped;
use crate::{Effects, StopReason, Verdict, sha256_of};

/// Schema of the document.
const SCHEMA: &str = "loom.value_payload/v1";
/// Members that are facts: equal facts have an equal digest.
const FACTS: &[&str] = &[
    "connector_id",
    "connector_version",
    "operation",
    "input_digest",
    "projection_digest",
    "fields",
    "items",
];

/// Where a fact comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct SourceRef {
    /// Kind, such as `github_issue`.
    pub kind: String,
    /// Stable name.
    pub r#ref: String,
    /// URL for people.
    pub url: Option<String>,
    /// When it was looked at.
    #[schemars(with = "String")]
    pub observed_at: Timestamp,
    /// Age of what was seen.
    pub age_seconds: u64,
    /// Whether the answer came out of the cache.
    pub from_cache: bool,
}

impl SourceRef {
    /// A source that was looked at just now.
    pub fn new(kind: &str, name: impl Into<String>, url: Option<String>, observed_at: Timestamp) -> Self {
        SourceRef {
            kind: kind.to_owned(),
            r#ref: name.into(),
            url,
            observed_at,
            age_seconds: 0,
            from_cache: false,
        }
    }
}

/// Which part of a run's results this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Part {
    /// From 0.
    pub index: u32,
    /// All.
    pub count: u32,
}

/// Who caused the run, and through which door.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Provenance {
    /// Origin of the capability.
    pub origin: crate::Origin,
    /// Principal.
    pub principal: String,
    /// Requests, as the request log names them.
    pub request_ids: Vec<String>,
    /// Source and fingerprint of the credential.
    pub credential: Option<Value>,
    /// Base URL.
    pub api_base: Option<String>,
}

/// What was masked, dropped and cut.
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Redaction {
    /// Rules with counts and pointers.
    pub rules: Vec<Value>,
    /// Members that were not declared.
    pub dropped_fields: u64,
    /// Caps that fired.
    pub capped: Vec<Capped>,
}

impl Redaction {
    /// Adds what one document gave; its pointers stand below `at`.
    pub(crate) fn add(&mut self, report: &Report, at: &str) {
        let mut pointers: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (pointer, rule) in report.pointers() {
            pointers.entry(rule.id()).or_default().push(format!("{at}{pointer}"));
        }
        for (rule, count) in report.counts() {
            let here = pointers.remove(rule.id()).unwrap_or_default();
            let known = self.rules.iter_mut().find(|one| one["rule"] == rule.id());
            match known.and_then(Value::as_object_mut) {
                None => self.rules.push(json!({"rule": rule.id(), "count": count, "pointers": here})),
                Some(known) => {
                    let before = known.get("count").and_then(Value::as_u64).unwrap_or(0);
                    known.insert("count".to_owned(), (before + count).into());
                    if let Some(list) = known.get_mut("pointers").and_then(Value::as_array_mut) {
                        list.extend(here.into_iter().map(Value::String));
                    }
                }
            }
        }
    }
}

/// When it ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Timings {
    /// Start.
    #[schemars(with = "String")]
    pub started_at: Timestamp,
    /// End.
    #[schemars(with = "String")]
    pub finished_at: Timestamp,
    /// Between them.
    pub duration_ms: u64,
    /// Of these, waiting for permits.
    pub waited_ms: u64,
}

/// The document of a run.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Payload {
    /// `loom.value_payload/v1`.
    pub schema_version: &'static str,
    /// Digest of the whole document without itself.
    pub payload_id: String,
    /// Whether the run came to its end without a failure.
    pub ok: bool,
    /// Canonical id.
    pub connector_id: String,
    /// Version.
    pub connector_version: String,
    /// Operation.
    pub operation: String,
    /// Run.
    pub run_id: String,
    /// Turn, if inside one.
    pub turn_id: Option<String>,
    /// Agent, if inside a Turn.
    pub agent_id: Option<String>,
    /// Trust domain.
    pub trust_domain: String,
    /// `trusted` only for facts that Loom computed itself.
    pub content_trust: &'static str,
    /// Digest of the input.
    pub input_digest: String,
    /// Digest of the output schema.
    pub projection_digest: String,
    /// Sources.
    pub source_refs: Vec<SourceRef>,
    /// The record.
    pub fields: Value,
    /// The items.
    pub items: Vec<Value>,
    /// Items.
    pub item_count: u64,
    /// Whether nothing is missing.
    pub complete: bool,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// Where to go on.
    pub cursor: Option<String>,
    /// Part of the results.
    pub part: Part,
    /// Who, and through which door.
    pub provenance: Provenance,
    /// What it did, counted.
    pub effects: Effects,
    /// What was masked, dropped and cut.
    pub redaction: Redaction,
    /// When.
    pub timings: Timings,
    /// Codes of what was missing or strange.
    pub warnings: Vec<String>,
    /// The failure.
    #[schemars(with = "Option<Value>")]
    pub error: Option<Error>,
    /// What the facts mean for whoever asked; no part of the document.
    #[serde(skip)]
    pub verdict: Verdict,
    /// Digest of the facts: equal facts, equal digest.
    pub content_digest: String,
}

impl Payload {
    pub(crate) const SCHEMA: &'static str = SCHEMA;

    /// Computes both digests.
    pub(crate) fn seal(mut self) -> Self {
        let items = std::mem::take(&mut self.items);
        let mut shell = serde_json::to_value(&self).expect("a payload has string keys");
        self.content_digest = content_of(&shell, Some(&items));
        if let Some(members) = shell.as_object_mut() {
            members.insert("content_digest".to_owned(), self.content_digest.clone().into());
        }
        self.payload_id = whole_of(&shell, Some(&items));
        self.items = items;
        self
    }
}

/// `content_digest` and `payload_id` of a document.
pub(crate) fn digests_of(document: &Value) -> (String, String) {
    (content_of(document, None), whole_of(document, None))
}

/// A member of a document, looked at where it is: a document may be large, and a copy of it is another one.
#[derive(Serialize)]
#[serde(untagged)]
enum Member<'a> {
    One(&'a Value),
    Items(&'a [Value]),
}

/// The value of a key; items that were taken out of the document stand beside it.
fn member<'a>(key: &str, value: &'a Value, items: Option<&'a [Value]>) -> Member<'a> {
    match items {
        Some(items) if key == "items" => Member::Items(items),
        _ => Member::One(value),
    }
}

fn content_of(document: &Value, items: Option<&[Value]>) -> String {
    let sources = document.get("source_refs").and_then(Value::as_array);
    let sources = sources.into_iter().flatten().map(without_times).collect::<Vec<_>>().into();
    let fact = |key: &&'static str| (*key, member(key, document.get(*key).unwrap_or(&Value::Null), items));
    let mut facts: BTreeMap<&str, Member<'_>> = FACTS.iter().map(fact).collect();
    facts.insert("source_refs", Member::One(&sources));
    sha256_of(&facts)
}

fn whole_of(document: &Value, items: Option<&[Value]>) -> String {
    let members = document.as_object().into_iter().flatten().filter(|(key, _)| *key != "payload_id");
    let members: BTreeMap<&str, Member<'_>> =
        members.map(|(key, value)| (key.as_str(), member(key, value, items))).collect();
    sha256_of(&members)
}

/// What of a source is a fact, and not the moment of looking.
fn without_times(source: &Value) -> Value {
    json!({"kind": source.get("kind"), "ref": source.get("ref"), "url": source.get("url")})
}
