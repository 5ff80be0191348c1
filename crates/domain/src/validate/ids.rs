//! Stable ids of conversations and actors, and lists of them.

use crate::Error;

/// Longest stable id, bytes.
const ID_BYTES_MAX: usize = 256;
/// Entries of a list.
const LIST_MAX: usize = 1_000;
/// Slack's plain ids are a letter and at least that many capitals or digits.
const SLACK_TAIL_MIN: usize = 8;

/// A remark about a value that is taken all the same.
pub type Warning = String;

/// Checks a conversation id of a provider; an unusual form gives a warning.
pub fn check_conversation_id(provider: &str, id: &str) -> Result<Option<Warning>, Error> {
    check_id("conversationId", provider, id)
}

/// Checks an actor id of a provider; an unusual form gives a warning.
pub fn check_actor_id(provider: &str, id: &str) -> Result<Option<Warning>, Error> {
    check_id("actorId", provider, id)
}

fn check_id(field: &str, provider: &str, id: &str) -> Result<Option<Warning>, Error> {
    if id.is_empty() || id.len() > ID_BYTES_MAX {
        return Err(Error::invalid(field, format!("use 1 to {ID_BYTES_MAX} bytes")));
    }
    if id.chars().any(|c| c.is_whitespace() || c.is_control()) || id.starts_with(['#', '@']) {
        return Err(Error::invalid(field, "use the provider's stable id, not a name"));
    }
    match owner_of(id) {
        Some(owner) if owner != provider && !is_foreign_to_all(provider) => {
            Err(Error::invalid(field, format!("this is an id of {owner}, not of {provider}")))
        }
        None if matches!(provider, "slack" | "feishu" | "parall") => {
            Ok(Some(format!("`{id}` is an unusual id for {provider}")))
        }
        _ => Ok(None),
    }
}

/// Connectors may bridge other platforms, so their ids may look like anything.
fn is_foreign_to_all(provider: &str) -> bool {
    !crate::connection::PROVIDERS.contains(&provider)
}

/// The provider whose plain form the id has.
fn owner_of(id: &str) -> Option<&'static str> {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| id.starts_with(prefix));
    if starts(&["oc_", "ou_", "om_"]) {
        return Some("feishu");
    }
    if starts(&["cht_", "usr_"]) {
        return Some("parall");
    }
    let tail = id.strip_prefix(['C', 'D', 'G', 'U', 'W'])?;
    let is_slack = tail.len() >= SLACK_TAIL_MIN
        && tail.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    is_slack.then_some("slack")
}

/// Checks an allow or block list: stable ids, trimmed, unique, sorted. Names, e-mails and wildcards are refused,
/// since only ids authorise.
pub fn check_list(field: &str, values: &[String]) -> Result<Vec<String>, Error> {
    if values.len() > LIST_MAX {
        return Err(Error::invalid(field, format!("use at most {LIST_MAX} ids")));
    }
    let mut ids = values.iter().map(|value| check_entry(field, value)).collect::<Result<Vec<_>, _>>()?;
    ids.sort();
    ids.dedup();
    Ok(ids)
}

fn check_entry(field: &str, value: &str) -> Result<String, Error> {
    let id = value.trim();
    let is_name = id.contains(['@', '*']) || id.starts_with('#');
    if is_name || id.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(Error::invalid(field, "use stable ids; names, e-mails and wildcards never match"));
    }
    if id.is_empty() || id.len() > ID_BYTES_MAX {
        return Err(Error::invalid(field, format!("an id has 1 to {ID_BYTES_MAX} bytes")));
    }
    Ok(id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn msg_013_ids_of_another_provider_are_refused() {
        for (provider, id) in [
            ("slack", "oc_5ad11d72b830411d72b836c20"),
            ("slack", "cht_01"),
            ("feishu", "C0123456789"),
            ("parall", "ou_7d8a6e6df7621556ce0d21922b676706ccs"),
            ("webhook", "U0123456789"),
        ] {
            assert!(check_conversation_id(provider, id).is_err(), "{provider} {id}");
        }
        assert_eq!(check_conversation_id("slack", "C0123456789").unwrap(), None);
        assert!(check_conversation_id("slack", "general").unwrap().is_some(), "a warning");
        assert_eq!(check_conversation_id("x-bridge", "C0123456789").unwrap(), None);
        assert_eq!(check_actor_id("webhook", "ann").unwrap(), None);
    }

    #[test]
    fn msg_078_names_are_no_ids() {
        for bad in ["#general", "@ann", "two words", "a\tb", "", &"x".repeat(257)] {
            assert!(check_conversation_id("slack", bad).is_err(), "{bad}");
            assert!(check_actor_id("feishu", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn msg_068_lists_hold_stable_ids_only() {
        let list = |values: &[&str]| {
            let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
            check_list("allowActors", &values)
        };
        for bad in ["Ann Lee", "ann@example.com", "@ann", "#general", "U*", "", "a\nb"] {
            assert!(list(&[bad]).is_err(), "{bad}");
        }
        assert_eq!(list(&[" U2 ", "U1", "U2"]).unwrap(), ["U1", "U2"]);
        assert!(check_list("allowBots", &vec!["U1".to_owned(); 1_001]).is_err());
    }

    #[test]
    fn atk_16_names_are_rejected_at_load() {
        assert!(check_list("allowActors", &["Owner Name".to_owned()]).is_err());
        assert!(check_list("allowActors", &["owner@corp.example".to_owned()]).is_err());
    }
}
