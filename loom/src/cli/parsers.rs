//! Values of flags, parsed once; what is wrong with one carries its own code.

use loom_domain::agent::check_name;
use loom_domain::membership::QuietHours;
use loom_domain::time::parse_duration_ms;
use loom_domain::{Code, Error, Result, Timestamp};
use loom_domain::{id, listing};

/// Longest idempotency key.
const KEY_CHARS_MAX: usize = 200;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident $kind:literal $type:ident;)*) => {
        $($(#[$doc])* pub(crate) fn $name(text: &str) -> Result<String> {
            one_of(text, &[(id::$type::PREFIX, $kind)])
        })*
    };
}

ids! {
    /// A Connection id.
    connection "Connection" ConnectionId;
    /// An Address id.
    address "Address" AddressId;
    /// A Membership id.
    membership "Membership" MembershipId;
    /// An Event id.
    event "Event" EventId;
    /// An Inbox item id.
    inbox "Inbox item" InboxId;
    /// An Outbox item id.
    outbox "Outbox item" OutboxId;
    /// A Part id.
    part "Part" PartId;
    /// An Artifact id.
    artifact "Artifact" ArtifactId;
    /// A Notice id.
    notice "Notice" NoticeId;
    /// A token id.
    token "token" TokenId;
    /// A plan id.
    plan "plan" OperationId;
    /// A gate id.
    gate "gate" GateId;
    /// A grant id.
    grant "grant" GrantId;
}

/// An Inbox item by its own id, its Message's or its Event's.
pub(crate) fn inbox_like(text: &str) -> Result<String> {
    one_of(text, &[("inb_", "Inbox item"), ("msg_", "Message"), ("evt_", "Event")])
}

/// An Address or Connection id.
pub(crate) fn switchable(text: &str) -> Result<String> {
    let error = || Error::new(Code::InvalidId, "expected an id that starts with adr_ or con_");
    if text.starts_with("mem_") {
        Err(error().with_hint(format!("loom conversation enable {text}")))
    } else {
        one_of(text, &[("adr_", "Address"), ("con_", "Connection")])
    }
}

/// A wrong prefix is `invalid_id`; a right one with a malformed rest names nothing that can exist.
fn one_of(text: &str, kinds: &[(&str, &str)]) -> Result<String> {
    let Some((prefix, kind)) = kinds.iter().find(|(prefix, _)| text.starts_with(prefix)) else {
        let expected: Vec<&str> = kinds.iter().map(|(prefix, _)| *prefix).collect();
        let message = format!("expected an id that starts with {}", expected.join(" or "));
        let hint = listing::hint_of_prefix(expected.first().unwrap_or(&""));
        return Err(Error::new(Code::InvalidId, message)
            .with_hint(hint)
            .with_detail("expected_prefix", expected.join(" ")));
    };
    if text.strip_prefix(prefix).is_some_and(id::is_ulid) {
        Ok(text.to_owned())
    } else {
        Err(Error::not_found(kind, &text.chars().take(40).collect::<String>()))
    }
}

/// An Agent: its id, or a name that is not a command word.
pub(crate) fn agent(text: &str) -> Result<String> {
    if text.starts_with("agt_") {
        one_of(text, &[("agt_", "Agent")])
    } else {
        check_name(text).map(|()| text.to_owned())
    }
}

/// A duration in milliseconds, more than nothing.
pub(crate) fn duration_ms(text: &str) -> Result<i64> {
    match parse_duration_ms(text)? {
        0 => Err(Error::new(Code::InvalidTime, "a duration must be longer than nothing")),
        ms => Ok(ms),
    }
}

/// A duration in whole seconds.
pub(crate) fn seconds(text: &str) -> Result<u64> {
    Ok(u64::try_from(duration_ms(text)? / 1_000).unwrap_or(0))
}

/// How far back a list goes: kept as typed, checked here.
pub(crate) fn since(text: &str) -> Result<String> {
    match text.parse::<Timestamp>() {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => duration_ms(text).map(|_| text.to_owned()).map_err(|_| {
            let message =
                "expected a duration such as 2h or 7d, or an RFC 3339 time such as 2026-01-31T09:00:00.000Z";
            Error::new(Code::InvalidTime, message)
        }),
    }
}

/// An RFC 3339 time.
pub(crate) fn time(text: &str) -> Result<Timestamp> {
    text.parse()
}

/// Comma separated entries; empty ones are left out.
#[expect(clippy::unnecessary_wraps, reason = "a parser of flag values gives a result")]
pub(crate) fn entries(text: &str) -> Result<Entries> {
    Ok(Entries(text.split(',').map(str::trim).filter(|entry| !entry.is_empty()).map(str::to_owned).collect()))
}

/// The entries of a list flag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entries(pub(crate) Vec<String>);

/// `TZ,HH:MM,HH:MM`.
pub(crate) fn quiet_hours(text: &str) -> Result<QuietHours> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    match parts.as_slice() {
        [tz, from, to] if !tz.is_empty() && is_clock(from) && is_clock(to) => {
            Ok(QuietHours { tz: (*tz).to_owned(), from: (*from).to_owned(), to: (*to).to_owned() })
        }
        _ => Err(Error::new(Code::InvalidTime, "expected TZ,HH:MM,HH:MM such as Europe/Berlin,22:00,07:00")),
    }
}

fn is_clock(text: &str) -> bool {
    let Some((hour, minute)) = text.split_once(':') else { return false };
    let within =
        |text: &str, limit: u8| text.len() == 2 && text.parse::<u8>().is_ok_and(|number| number < limit);
    within(hour, 24) && within(minute, 60)
}

/// 1 to 200 printable ASCII characters.
pub(crate) fn idempotency_key(text: &str) -> Result<String> {
    let fits = (1..=KEY_CHARS_MAX).contains(&text.len()) && text.bytes().all(|b| (0x20..0x7f).contains(&b));
    if fits {
        Ok(text.to_owned())
    } else {
        Err(Error::new(Code::InvalidArgument, "expected 1 to 200 printable ASCII characters"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ULID: &str = "01arz3ndektsv4rrffq69g5fav";

    /// MSG-009: an id that cannot exist is not found; another kind's id is a wrong argument.
    #[test]
    fn msg_009_ids() {
        assert!(connection(&format!("con_{ULID}")).is_ok());
        assert_eq!(connection("con_x").unwrap_err().code, Code::NotFound);
        assert_eq!(connection("adr_x").unwrap_err().code, Code::InvalidId);
        assert_eq!(switchable(&format!("mem_{ULID}")).unwrap_err().code, Code::InvalidId);
        assert!(inbox_like(&format!("evt_{ULID}")).is_ok());
    }

    #[test]
    fn names_durations_and_lists() {
        assert_eq!(agent("list").unwrap_err().code, Code::ReservedName);
        assert_eq!(seconds("2m").unwrap(), 120);
        assert_eq!(seconds("0").unwrap_err().code, Code::InvalidTime);
        assert_eq!(since("yesterday").unwrap_err().code, Code::InvalidTime);
        assert_eq!(entries(" a, b,,").unwrap().0, ["a", "b"]);
        assert_eq!(quiet_hours("Europe/Berlin,22:00,07:00").unwrap().from, "22:00");
        assert!(quiet_hours("Europe/Berlin,24:00,7:00").is_err());
        assert!(idempotency_key("é").is_err());
    }
}
