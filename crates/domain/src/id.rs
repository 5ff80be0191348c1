//! Typed object ids: a prefix and a 26-character lower-case ULID.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Code, Error};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const ULID_CHARS: usize = 26;

/// Encodes a 128-bit value (48 bits of milliseconds, 80 bits of randomness) as 26 Crockford characters.
pub fn encode_ulid(value: u128) -> String {
    (0..ULID_CHARS)
        .rev()
        .map(|place| {
            let digit = usize::try_from((value >> (place * 5)) & 31).unwrap_or(0);
            char::from(ALPHABET.get(digit).copied().unwrap_or(b'0'))
        })
        .collect()
}

/// Builds the 128-bit value of a ULID from Unix milliseconds and random bits (the low 80 are used).
pub fn ulid_value(unix_ms: i64, random: u128) -> u128 {
    let ms = u128::try_from(unix_ms.max(0)).unwrap_or(0) & ((1 << 48) - 1);
    (ms << 80) | (random & ((1 << 80) - 1))
}

/// Whether the text is a well-formed lower-case ULID.
pub fn is_ulid(text: &str) -> bool {
    text.len() == ULID_CHARS
        && text.as_bytes().first().is_some_and(|b| (b'0'..=b'7').contains(b))
        && text.bytes().all(|b| ALPHABET.contains(&b))
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident $prefix:literal;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub struct $name(String);

            impl $name {
                /// The prefix of ids of this kind, with its underscore.
                pub const PREFIX: &'static str = $prefix;
                /// Makes an id from Unix milliseconds and random bits.
                pub fn new(unix_ms: i64, random: u128) -> Self {
                    $name(format!("{}{}", $prefix, encode_ulid(ulid_value(unix_ms, random))))
                }
                /// The id as text.
                pub fn as_str(&self) -> &str { &self.0 }
            }

            impl FromStr for $name {
                type Err = Error;
                fn from_str(text: &str) -> Result<Self, Error> {
                    match text.strip_prefix($prefix) {
                        Some(ulid) if is_ulid(ulid) => Ok($name(text.to_owned())),
                        Some(_) => Err(Error::new(Code::InvalidId, format!("expected 26 letters and digits behind {}", $prefix))
                            .with_hint($crate::listing::hint_of_prefix($prefix))
                            .with_detail("expected_prefix", $prefix)),
                        None => Err(Error::new(Code::InvalidId, format!("expected an id that starts with {}", $prefix))
                            .with_hint($crate::listing::hint_of_prefix($prefix))
                            .with_detail("expected_prefix", $prefix)),
                    }
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(&self.0) }
            }
            impl fmt::Debug for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(&self.0) }
            }
            impl Serialize for $name {
                fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> { s.serialize_str(&self.0) }
            }
            impl<'de> Deserialize<'de> for $name {
                fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                    let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
                    text.parse().map_err(|e: Error| serde::de::Error::custom(e.message))
                }
            }
        )*
    };
}

ids! {
    /// An Agent.
    AgentId "agt_";
    /// A Connection.
    ConnectionId "con_";
    /// An Address.
    AddressId "adr_";
    /// A Candidate conversation.
    CandidateId "cnd_";
    /// A Membership.
    MembershipId "mem_";
    /// An Event.
    EventId "evt_";
    /// A Message.
    MessageId "msg_";
    /// An Inbox item.
    InboxId "inb_";
    /// An Attempt.
    AttemptId "att_";
    /// A Turn.
    TurnId "trn_";
    /// An Outbox item.
    OutboxId "out_";
    /// A Part of an Outbox item.
    PartId "part_";
    /// An Artifact.
    ArtifactId "art_";
    /// An Operation.
    OperationId "op_";
    /// A Notice.
    NoticeId "ntc_";
    /// A stored token.
    TokenId "tok_";
    /// A hub node.
    NodeId "nod_";
    /// A gateway session.
    SessionId "gws_";
    /// A gate of an external write.
    GateId "apr_";
    /// A grant.
    GrantId "grt_";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_carry_prefix_and_time_order() {
        let a = InboxId::new(1_000, 7);
        let b = InboxId::new(1_001, 0);
        assert!(a < b);
        assert_eq!(a.as_str().len(), 4 + 26);
        assert_eq!(a.as_str().parse::<InboxId>().unwrap(), a);
    }

    #[test]
    fn wrong_prefix_names_the_expected_one() {
        let error = "adr_01arz3ndektsv4rrffq69g5fav".parse::<InboxId>().unwrap_err();
        assert_eq!(error.code, Code::InvalidId);
        assert!(error.message.contains("inb_"));
    }

    /// ATK-40: nothing but the grammar is an id.
    #[test]
    fn atk_40_hostile_ids_are_refused() {
        for bad in [
            "inb_../x",
            "inb_",
            "inb_01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "inb_81arz3ndektsv4rrffq69g5fav",
            "inb_01arz3ndektsv4rrffq69g5fa\0",
        ] {
            assert!(bad.parse::<InboxId>().is_err(), "{bad}");
        }
    }
}
