//! The governed send path of a hub, as a run sees it: whoever lends a world lends it, or does not.

use std::time::Duration;

use async_trait::async_trait;
use loom_domain::{Expectation, OutboxItem, Part, Result};

/// A message to a Membership.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// Membership.
    pub membership_id: String,
    /// Text in Markdown.
    pub text: String,
    /// Paths of files, which only a process of the owner opens.
    pub files: Vec<String>,
    /// Whether an answer is expected.
    pub expect_reply: Option<Expectation>,
    /// Key that tells repeats.
    pub idempotency_key: String,
}

/// Where a Membership leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipient {
    /// Provider of its Connection.
    pub provider: String,
    /// Connection.
    pub connection_id: String,
    /// State of the Connection, such as `connected`.
    pub connection_state: String,
    /// What may be sent, such as `proactive`.
    pub outbound_policy: String,
    /// Whether the Membership is on.
    pub enabled: bool,
}

/// An Outbox item as it was when the wait ended.
#[derive(Debug, Clone)]
pub struct Sent {
    /// The item.
    pub item: OutboxItem,
    /// Its Parts, in order.
    pub parts: Vec<Part>,
    /// Whether an earlier order made it.
    pub duplicate: bool,
}

/// Sends by the rules of a hub.
#[async_trait]
pub trait SendPath: Send + Sync {
    /// Where a Membership leads.
    async fn recipient(&self, membership_id: &str) -> Result<Recipient>;
    /// Whether the message would be admitted, and in how many Parts. Nothing is stored.
    async fn check(&self, letter: &Letter) -> Result<u32>;
    /// Stores the message, and waits for its end at most that long. The same key gives the same item.
    async fn send(&self, letter: &Letter, wait: Duration) -> Result<Sent>;
}
