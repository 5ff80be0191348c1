//! The platform's codes and what each means (provider reference B.14 and B.15, messaging specification 5.7).

pub(super) use crate::sending::{Effect, transport_fault};
use crate::{Fault, FaultClass};

/// What was asked for, where a code means different things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// A token for the app.
    Token,
    /// A message to a conversation.
    Send,
    /// An answer to a message.
    Reply,
    /// Everything else.
    Other,
}

/// The token is not, or no longer, good: a new one helps.
const TOKEN_ENDED: &[i64] = &[99_991_661, 99_991_663, 99_991_664, 99_991_665, 99_991_671];
const AUTH: &[i64] = &[
    99_991_668, 99_991_677, 99_991_543, 10_015, 99_991_401, // the app's id, secret or address
    99_991_662, 99_991_673, 10_014, 232_034, // the app's state
];
const SCOPE: &[i64] = &[99_991_672, 99_991_676, 99_991_679, 230_027, 232_033, 231_021];
const RATE_LIMITED: &[i64] = &[99_991_400, 230_020, 11_232, 11_233, 1_000_004, 1_000_005];
const QUOTA: i64 = 99_991_403;
/// Nothing was sent, and the same may be sent again.
const RETRYABLE: &[i64] = &[BEING_SENT, 231_015, 232_096];
/// Faults inside the platform, which do not tell whether it acted.
const AMBIGUOUS: &[i64] = &[2_200, 5_000, 10_500, 1_000_003];
/// The app's id is not known; elsewhere the code has other meanings.
const BAD_APP: i64 = 10_003;
/// A request with the same uuid is on its way.
const BEING_SENT: i64 = 230_049;
/// Wait for a request that is on its way, milliseconds.
const BEING_SENT_MS: u64 = 5_000;
/// Wait after a throttle that does not say how long, milliseconds.
const THROTTLE_MS: u64 = 1_000;
/// Longest wait that is believed, seconds.
const THROTTLE_S_MAX: u64 = 3_600;
/// Longest part of the platform's own words that is kept.
const WORDS_MAX: usize = 200;

/// A parameter is wrong: a post that the platform cannot read goes as text once.
pub(super) const BAD_PARAMETER: &str = "230001";
/// The group knows no topics: the answer goes to it plainly.
pub(super) const NO_TOPICS: &str = "230071";
/// An image is not one, or too large as one: it goes as a file.
pub(super) const NO_IMAGE: &[&str] = &["234011", "234039", "234006"];

/// Whether a new token may help.
pub(super) fn ends_token(code: i64) -> bool {
    TOKEN_ENDED.contains(&code)
}

/// The class of a code. An unlisted one is permanent.
pub(super) fn classify(code: i64, endpoint: Endpoint, effect: Effect) -> FaultClass {
    match code {
        BAD_APP if endpoint == Endpoint::Token => FaultClass::Auth,
        QUOTA => FaultClass::Quota,
        _ if TOKEN_ENDED.contains(&code) || AUTH.contains(&code) => FaultClass::Auth,
        _ if SCOPE.contains(&code) => FaultClass::MissingScope,
        _ if RATE_LIMITED.contains(&code) => FaultClass::RateLimited,
        _ if RETRYABLE.contains(&code) => FaultClass::Retryable,
        _ if AMBIGUOUS.contains(&code) => ambiguous(effect),
        _ => FaultClass::Permanent,
    }
}

fn ambiguous(effect: Effect) -> FaultClass {
    match effect {
        Effect::None => FaultClass::Retryable,
        Effect::Publish => FaultClass::Unknown,
    }
}

/// What is known of an answer that is none of success.
pub(super) struct Refusal<'a> {
    pub(super) operation: &'a str,
    pub(super) endpoint: Endpoint,
    pub(super) effect: Effect,
    pub(super) status: u16,
    pub(super) code: Option<i64>,
    pub(super) words: &'a str,
    pub(super) log_id: &'a str,
    pub(super) reset_s: Option<u64>,
}

impl Refusal<'_> {
    /// The fault of it.
    pub(super) fn fault(&self) -> Fault {
        let class = match self.code {
            _ if self.status == 429 => FaultClass::RateLimited,
            Some(code) => classify(code, self.endpoint, self.effect),
            None if (400..500).contains(&self.status) => FaultClass::Permanent,
            None => ambiguous(self.effect),
        };
        let code = self.code.map_or_else(|| "http_status".to_owned(), |code| code.to_string());
        let mut fault = Fault::new(class, code, self.sentence());
        fault.retry_after_ms = match (class, self.code) {
            (FaultClass::RateLimited, _) => {
                Some(self.reset_s.map_or(THROTTLE_MS, |s| s.clamp(1, THROTTLE_S_MAX) * 1_000))
            }
            (_, Some(BEING_SENT)) => Some(BEING_SENT_MS),
            _ => None,
        };
        if class == FaultClass::RateLimited {
            fault.scope = Some(self.operation.to_owned());
        }
        fault
    }

    fn sentence(&self) -> String {
        let words = plain(self.words);
        let mut text = format!("{}: HTTP status {}", self.operation, self.status);
        for (name, value) in [("", words), (", log ", plain(self.log_id))] {
            if !value.is_empty() {
                text.push_str(if name.is_empty() { ", " } else { name });
                text.push_str(&value);
            }
        }
        if self.endpoint == Endpoint::Token {
            text.push_str("; check app id, app secret and the brand (feishu or lark)");
        }
        text
    }
}

/// The platform's words with nothing in them that could mislead a log.
fn plain(words: &str) -> String {
    words.chars().filter(|c| !c.is_control()).take(WORDS_MAX).collect()
}

/// Whether the fault says that the app may not do this, whatever is asked.
pub(super) fn is_denied(fault: &Fault) -> bool {
    matches!(
        fault.class,
        FaultClass::Auth | FaultClass::MissingScope | FaultClass::Config | FaultClass::Permanent
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MSG-191: every code of the table has its class.
    #[test]
    fn msg_191_every_feishu_code_has_its_class() {
        use FaultClass as C;
        let auth = "99991661 99991663 99991665 99991664 99991671 99991668 99991677 99991543 10015 99991401 \
            99991662 99991673 10014 232034";
        let scope = "99991672 99991676 99991679 230027 232033 231021";
        let permanent = "230006 232025 234007 234002 230002 230013 231022 230029 230034 230053 230038 232006 232009 \
            232011 230011 231003 230019 230050 230110 99992351 99992354 99992364 230018 230035 230022 230028 230054 \
            230075 230111 230001 230025 230099 230055 230017 234001 234006 234010 234011 234039 234043 230071 230072 \
            230073 231002 231008 234037 234038 424242";
        let limited = "99991400 230020 11232 11233 1000004 1000005";
        for (codes, read, publish) in [
            (auth, C::Auth, C::Auth),
            (scope, C::MissingScope, C::MissingScope),
            (permanent, C::Permanent, C::Permanent),
            (limited, C::RateLimited, C::RateLimited),
            ("99991403", C::Quota, C::Quota),
            ("230049 231015 232096", C::Retryable, C::Retryable),
            ("2200 5000 10500 1000003", C::Retryable, C::Unknown),
            ("10003", C::Permanent, C::Permanent),
        ] {
            for code in codes.split_whitespace() {
                let number = code.parse().unwrap();
                assert_eq!(classify(number, Endpoint::Other, Effect::None), read, "{code}");
                assert_eq!(classify(number, Endpoint::Send, Effect::Publish), publish, "{code}");
                assert_eq!(classify(number, Endpoint::Reply, Effect::Publish), publish, "{code}");
            }
        }
        assert_eq!(classify(10_003, Endpoint::Token, Effect::None), C::Auth);
        assert!(TOKEN_ENDED.iter().all(|code| ends_token(*code)) && !ends_token(99_991_668));
    }

    fn fault(status: u16, code: Option<i64>, effect: Effect, reset_s: Option<u64>) -> Fault {
        let (endpoint, words, log_id) = (Endpoint::Send, "no\nway", "l1");
        Refusal { operation: "send", endpoint, effect, status, code, words, log_id, reset_s }.fault()
    }

    #[test]
    fn waits_come_from_the_header_or_are_short() {
        let wait = |status, code, reset| fault(status, code, Effect::Publish, reset).retry_after_ms;
        assert_eq!(wait(429, Some(99_991_400), Some(7)), Some(7_000));
        assert_eq!(wait(400, Some(230_020), None), Some(1_000));
        assert_eq!(wait(429, None, Some(999_999)), Some(3_600_000));
        assert_eq!((wait(400, Some(230_049), None), wait(400, Some(230_001), None)), (Some(5_000), None));
    }

    /// MSG-194: a server that failed may have sent; one that refused has not.
    #[test]
    fn msg_194_a_failed_server_makes_a_publish_unknown() {
        let class = |status, effect| fault(status, None, effect, None).class;
        assert_eq!(class(502, Effect::Publish), FaultClass::Unknown);
        assert_eq!(class(502, Effect::None), FaultClass::Retryable);
        assert_eq!(class(404, Effect::Publish), FaultClass::Permanent);
        assert_eq!(class(200, Effect::Publish), FaultClass::Unknown);
        let told = fault(400, Some(230_002), Effect::Publish, None);
        assert_eq!(
            (told.code.as_str(), told.message.as_str()),
            ("230002", "send: HTTP status 400, noway, log l1")
        );
    }
}
