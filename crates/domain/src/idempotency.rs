//! One logical send is one Outbox item however often it is asked for (messaging specification 5.3).

use serde_json::{Value, json};

use crate::outbox::{PartError, State, Target};
use crate::{AgentId, Code, Error, Expectation, InboxId, MembershipId, OutboxId, TextFormat, canonical};

/// Longest key, bytes.
pub const KEY_BYTES_MAX: usize = 200;

/// Checks a key: 1 to 200 printable ASCII characters.
pub fn check_key(key: &str) -> Result<(), Error> {
    let printable = key.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    if key.trim().is_empty() || key.len() > KEY_BYTES_MAX || !printable {
        return Err(Error::invalid("idempotencyKey", "use 1 to 200 printable ASCII characters"));
    }
    Ok(())
}

/// Scope of a proactive key. Keys of other Agents or Memberships never meet.
#[must_use]
pub fn proactive_scope(agent: &AgentId, membership: &MembershipId, key: &str) -> String {
    format!("to/{agent}/{membership}/{key}")
}

/// Scope of a reply: the answer of a re-run is a new action.
#[must_use]
pub fn reply_scope(agent: &AgentId, item: &InboxId, attempt: u32, key: Option<&str>) -> String {
    match key {
        Some(key) => format!("reply/{agent}/{item}/{attempt}/key/{key}"),
        None => format!("reply/{agent}/{item}/{attempt}/none"),
    }
}

/// What a send says and where.
#[derive(Debug, Clone, Copy)]
pub struct Fingerprint<'a> {
    /// Text.
    pub text: &'a str,
    /// Form of the text.
    pub format: TextFormat,
    /// Digest and name of each file, in order.
    pub files: &'a [(String, String)],
    /// Target.
    pub target: &'a Target,
    /// Whether an answer is expected.
    pub expect_reply: Expectation,
}

impl Fingerprint<'_> {
    /// Hex SHA-256 over canonical JSON.
    #[must_use]
    pub fn digest(&self) -> String {
        let files: Vec<Value> =
            self.files.iter().map(|(sha256, name)| json!({"sha256": sha256, "name": name})).collect();
        canonical::sha256_hex(&json!({
            "text": self.text,
            "format": self.format,
            "files": files,
            "threadId": self.target.thread_id,
            "messageId": self.target.message_id,
            "expectReply": self.expect_reply,
        }))
    }
}

/// The newest earlier item in the scope.
#[derive(Debug, Clone, Copy)]
pub struct Earlier<'a> {
    /// Id.
    pub id: &'a OutboxId,
    /// State.
    pub state: State,
    /// Fingerprint.
    pub fingerprint: &'a str,
    /// Newest error.
    pub last_error: Option<&'a PartError>,
}

/// What a send becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// A new item.
    New,
    /// A new item; the earlier one becomes `cancelled` with `supersededBy`.
    Supersedes,
    /// The earlier item; the caller waits on it.
    Same,
    /// The earlier item, which is sent: exit 0 with `duplicate: true`.
    Duplicate,
    /// The earlier item, whose fate is unknown: `delivery_unknown`.
    Unknown,
}

/// Judges a send against the earlier item of its scope.
pub fn judge(earlier: Option<&Earlier<'_>>, fingerprint: &str, is_reply: bool) -> Result<Verdict, Error> {
    let Some(earlier) = earlier else { return Ok(Verdict::New) };
    if earlier.fingerprint == fingerprint { same(earlier) } else { other(earlier, is_reply) }
}

fn same(earlier: &Earlier<'_>) -> Result<Verdict, Error> {
    match earlier.state {
        State::Held | State::Pending | State::Sending | State::RetryWait => Ok(Verdict::Same),
        State::Sent => Ok(Verdict::Duplicate),
        State::Unknown => Ok(Verdict::Unknown),
        State::Failed | State::Expired | State::Cancelled => Err(failed(earlier)),
    }
}

fn failed(earlier: &Earlier<'_>) -> Error {
    let message = format!("the earlier send {} is {}", earlier.id, earlier.state);
    let hint = match earlier.state {
        State::Cancelled => "Use a new key.".to_owned(),
        _ => format!("loom outbox retry {} (or use a new key)", earlier.id),
    };
    let error = Error::new(Code::IdempotencyFailed, message).with_hint(hint);
    let error = named(error, earlier);
    match earlier.last_error {
        Some(last) => error.with_detail("last_error", json!({"class": last.class, "code": last.code})),
        None => error,
    }
}

fn other(earlier: &Earlier<'_>, is_reply: bool) -> Result<Verdict, Error> {
    let code = match (is_reply, earlier.state) {
        (true, State::Failed | State::Expired | State::Cancelled) => return Ok(Verdict::Supersedes),
        (true, State::Sent) => Code::AlreadyDecided,
        (true, _) => Code::ReplyExists,
        (false, _) => Code::IdempotencyConflict,
    };
    let message = format!("{} holds other content and is {}", earlier.id, earlier.state);
    Err(named(Error::new(code, message), earlier))
}

fn named(error: Error, earlier: &Earlier<'_>) -> Error {
    error.with_detail("outbox_id", earlier.id.as_str()).with_detail("state", earlier.state.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(state: State, same: bool, is_reply: bool) -> Result<Verdict, Code> {
        let id = OutboxId::new(1, 1);
        let earlier = Earlier { id: &id, state, fingerprint: "a", last_error: None };
        judge(Some(&earlier), if same { "a" } else { "b" }, is_reply).map_err(|error| error.code)
    }

    #[test]
    fn msg_161_the_table_of_earlier_items() {
        use State as S;
        for state in State::ALL {
            let (same, proactive, reply) = match state {
                S::Held | S::Pending | S::Sending | S::RetryWait => {
                    (Ok(Verdict::Same), Code::IdempotencyConflict, Err(Code::ReplyExists))
                }
                S::Sent => (Ok(Verdict::Duplicate), Code::IdempotencyConflict, Err(Code::AlreadyDecided)),
                S::Unknown => (Ok(Verdict::Unknown), Code::IdempotencyConflict, Err(Code::ReplyExists)),
                S::Failed | S::Expired | S::Cancelled => {
                    (Err(Code::IdempotencyFailed), Code::IdempotencyConflict, Ok(Verdict::Supersedes))
                }
            };
            assert_eq!(run(*state, true, false), same);
            assert_eq!(run(*state, true, true), same);
            assert_eq!(run(*state, false, false), Err(proactive));
            assert_eq!(run(*state, false, true), reply);
        }
        assert_eq!(judge(None, "a", true).unwrap(), Verdict::New);
    }

    #[test]
    fn msg_162_a_failed_item_names_the_retry_command() {
        let id = OutboxId::new(1, 1);
        let earlier = Earlier { id: &id, state: State::Failed, fingerprint: "a", last_error: None };
        let error = judge(Some(&earlier), "a", false).unwrap_err();
        assert!(error.hint.unwrap().contains(&format!("loom outbox retry {id}")));
        assert_eq!(error.detail["outbox_id"], id.as_str());
    }

    /// MSG-162: a cancelled item takes no retry, so only a new key helps.
    #[test]
    fn msg_162_a_cancelled_item_names_a_new_key_only() {
        let id = OutboxId::new(1, 1);
        let earlier = Earlier { id: &id, state: State::Cancelled, fingerprint: "a", last_error: None };
        let hint = judge(Some(&earlier), "a", false).unwrap_err().hint.unwrap();
        assert!(hint.contains("new key") && !hint.contains("retry"), "{hint}");
    }

    #[test]
    fn msg_163_keys_of_other_agents_or_memberships_never_meet() {
        let (a, b) = (AgentId::new(1, 1), AgentId::new(1, 2));
        let (m, n) = (MembershipId::new(1, 1), MembershipId::new(1, 2));
        let scopes = [(&a, &m), (&b, &m), (&a, &n)].map(|(a, m)| proactive_scope(a, m, "k"));
        assert!(scopes[0] != scopes[1] && scopes[0] != scopes[2]);
        let item = InboxId::new(1, 1);
        assert_ne!(reply_scope(&a, &item, 1, None), reply_scope(&a, &item, 2, None));
        assert_ne!(reply_scope(&a, &item, 1, None), reply_scope(&a, &item, 1, Some("none")));
    }

    #[test]
    fn a_fingerprint_covers_content_order_and_target() {
        let digest = |text: &str, files: &[(&str, &str)], thread: Option<&str>| {
            let files: Vec<_> = files.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
            let target = Target { thread_id: thread.map(str::to_owned), message_id: None };
            let format = TextFormat::Markdown;
            let expect_reply = Expectation::None;
            Fingerprint { text, format, files: &files, target: &target, expect_reply }.digest()
        };
        let base = digest("hi", &[("1", "a"), ("2", "b")], None);
        assert_eq!(base, digest("hi", &[("1", "a"), ("2", "b")], None));
        assert_ne!(base, digest("hi ", &[("1", "a"), ("2", "b")], None));
        assert_ne!(base, digest("hi", &[("2", "b"), ("1", "a")], None));
        assert_ne!(base, digest("hi", &[("1", "a"), ("2", "b")], Some("t")));
    }

    #[test]
    fn keys_are_short_printable_ascii() {
        assert!(check_key("daily 2026-01-01").is_ok());
        for bad in ["", " ", "a\nb", "ä", &"k".repeat(201)] {
            assert!(check_key(bad).is_err(), "{bad}");
        }
    }
}
