//! Which command lists the objects of a kind: what a wrong or unknown id is answered with.

use crate::Code;

/// Prefixes of ids with the kind of object in words.
const KINDS: &[(&str, &str)] = &[
    ("agt_", "agent"),
    ("con_", "connection"),
    ("adr_", "address"),
    ("mem_", "membership"),
    ("cnd_", "candidate"),
    ("evt_", "event"),
    ("msg_", "message"),
    ("inb_", "inbox item"),
    ("trn_", "turn"),
    ("out_", "outbox item"),
    ("part_", "part"),
    ("art_", "artifact"),
    ("ntc_", "notice"),
    ("apr_", "gate"),
    ("op_", "connector plan"),
    ("grt_", "grant"),
];

/// The command that lists objects of a kind.
#[must_use]
pub fn of_kind(kind: &str) -> Option<&'static str> {
    let command = match kind.to_ascii_lowercase().as_str() {
        "agent" => "loom agent list",
        "connection" | "address" => "loom integration list",
        "membership" | "candidate" => "loom conversation list",
        "event" | "refusal" => "loom inbox refused",
        "message" | "inbox item" | "artifact" => "loom inbox list",
        "turn" => "loom turn list",
        "outbox item" | "part" => "loom outbox list",
        "notice" => "loom notices",
        "gate" | "connector plan" => "loom value-connectors plans",
        "grant" => "loom capability grants AGENT",
        "endpoint" => "loom value-connectors http-webhook endpoint list",
        _ => return None,
    };
    Some(command)
}

/// The hint for an id of another kind than the expected prefix names.
#[must_use]
pub fn hint_of_prefix(prefix: &str) -> String {
    let kind = KINDS.iter().find(|(known, _)| *known == prefix).map_or("", |(_, kind)| kind);
    of_kind(kind)
        .map_or_else(|| Code::InvalidId.hint().to_owned(), |command| format!("copy the id from `{command}`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConnectionId, Error};

    #[test]
    fn hints_name_the_list_of_the_kind() {
        assert_eq!(Error::not_found("agent", "docs").hint.as_deref(), Some("see `loom agent list`"));
        assert_eq!(Error::not_found("Outbox item", "x").hint.as_deref(), Some("see `loom outbox list`"));
        assert_eq!(Error::not_found("token", "x").hint.as_deref(), Some(Code::NotFound.hint()));
        let error = "adr_x".parse::<ConnectionId>().unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("copy the id from `loom integration list`"));
        assert_eq!(hint_of_prefix("tok_"), Code::InvalidId.hint());
    }
}
