//! Sends and replies. `Prefer: wait=N` (at most 60) waits for their end; without it the answer comes after the commit.

use loom_domain::outbox::Target;
use loom_domain::{Expectation, TextFormat};
use serde::{Deserialize, Serialize};

/// A file of a send: uploaded (`artifact_id`), or announced for admission (`sha256`, `size`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct File {
    /// The stored file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<String>,
    /// Name people see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Digest, hex SHA-256.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// What is sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Content {
    /// Text, at most 256 KiB.
    pub text: String,
    /// Form of the text; absent means Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<TextFormat>,
    /// Files, at most 8.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<File>,
}

/// A message to one conversation: exactly one of `inbox_item_id` and `membership_id`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Send {
    /// Agent name or id; absent with an Agent token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Item that is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inbox_item_id: Option<String>,
    /// Membership that is written to of the Agent's own accord.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub membership_id: Option<String>,
    /// Text and files.
    pub content: Content,
    /// Whether an answer is expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect_reply: Option<Expectation>,
    /// 1 to 200 printable ASCII characters; required with `membership_id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Thread or message of the Membership's conversation; never with a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// Time to live, 60 to 604 800 seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<u64>,
    /// Whether quiet hours are ignored.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub urgent: bool,
}

/// A reply to the item of the path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Reply {
    /// Agent that replies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Text and files; empty with `from_answer`.
    pub content: Content,
    /// Whether the preserved final answer of the last Attempt is sent (owner).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub from_answer: bool,
    /// Whether an earlier reply that was partly delivered is accepted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub after_partial: bool,
    /// 1 to 200 printable ASCII characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Whether an answer is expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect_reply: Option<Expectation>,
    /// Time to live, 60 to 604 800 seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<u64>,
}
