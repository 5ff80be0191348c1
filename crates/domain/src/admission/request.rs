//! What a caller asks to send.

use crate::outbox::Target;
use crate::{Code, Error, Expectation, InboxId, MembershipId, TextFormat};

/// A file of a send, as announced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendFile {
    /// Name.
    pub name: String,
    /// Size, bytes.
    pub size: u64,
    /// Hex SHA-256.
    pub sha256: String,
}

/// What to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendRequest {
    /// Text.
    pub text: String,
    /// Form of the text.
    pub format: TextFormat,
    /// Files, in order.
    pub files: Vec<SendFile>,
    /// Given thread or message.
    pub target: Target,
    /// Whether an answer is expected.
    pub expect_reply: Expectation,
    /// Key.
    pub idempotency_key: Option<String>,
    /// Ignores quiet hours.
    pub urgent: bool,
}

/// Where to send: exactly one of a reply and a Membership. No raw provider conversation id is ever taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendTarget {
    /// `--reply-to`.
    Reply(InboxId),
    /// `--to`.
    Membership(MembershipId),
}

impl SendTarget {
    /// Reads the two flags.
    pub fn parse(reply_to: Option<&str>, to: Option<&str>) -> Result<SendTarget, Error> {
        match (reply_to, to) {
            (Some(_), Some(_)) => {
                Err(Error::new(Code::MutuallyExclusive, "give one of `--reply-to` and `--to`"))
            }
            (None, None) => Err(Error::new(Code::Usage, "give `--reply-to ID` or `--to mem_…`")),
            (Some(item), None) => item.parse().map(SendTarget::Reply),
            (None, Some(membership)) => membership.parse().map(SendTarget::Membership).map_err(|_| {
                Error::new(
                    Code::MembershipRequired,
                    "`--to` takes a mem_ id, never a provider's conversation id",
                )
            }),
        }
    }
}
