//! Ranges and sizes of settings.

use std::ops::RangeInclusive;

use crate::agent::{PROFILE_BYTES_MAX, check_name};
use crate::{Agent, Code, ConversationType, Error};

/// Time to live of sends, seconds.
pub const TTL_SECONDS: RangeInclusive<u64> = 60..=604_800;
/// Proactive sends per hour.
pub const PROACTIVE_PER_HOUR: RangeInclusive<u64> = 1..=600;
/// Absolute limit of a Turn, seconds.
pub const AGENT_TURN_SECONDS: RangeInclusive<u64> = 10..=604_800;
/// Idle limit of a Turn, seconds.
pub const IDLE_SECONDS: RangeInclusive<u64> = 10..=604_800;
/// Oldest accepted event, seconds (1 minute to 7 days).
pub const INBOUND_AGE_SECONDS: RangeInclusive<u64> = 60..=604_800;

const OWNER_TEXT_BYTES_MAX: usize = 16_000;
const DISPLAY_NAME_BYTES_MAX: usize = 1_000;
const SETTING_BYTES_MAX: usize = 2_048;
const ARGUMENTS_MAX: usize = 256;
const SANDBOXES: &[&str] = &["read_only", "workspace_write", "full_access"];
const APPROVALS: &[&str] = &["never", "ask", "strict"];

/// Checks that a number lies in its range.
pub fn check_range(field: &str, value: u64, range: &RangeInclusive<u64>) -> Result<(), Error> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(Error::invalid(field, format!("use {} to {}", range.start(), range.end())))
}

/// Checks the size of a text.
pub fn check_text(field: &str, text: &str, bytes_max: usize) -> Result<(), Error> {
    if text.len() > bytes_max {
        let message = format!("{field}: {} bytes; at most {bytes_max}", text.len());
        return Err(Error::new(Code::TooLarge, message).with_detail("field", field));
    }
    if text.contains('\0') {
        return Err(Error::invalid(field, "a text holds no NUL"));
    }
    Ok(())
}

/// Checks display name and the owner-authored texts of a Membership.
pub fn membership_texts(display_name: &str, purpose: &str, role: &str, guidance: &str) -> Result<(), Error> {
    check_text("displayName", display_name, DISPLAY_NAME_BYTES_MAX)?;
    for (field, text) in [("purpose", purpose), ("role", role), ("guidance", guidance)] {
        check_text(field, text, OWNER_TEXT_BYTES_MAX)?;
    }
    Ok(())
}

/// Checks that a DM Membership, and only it, has an actor.
pub fn check_membership_actor(kind: ConversationType, actor: Option<&str>) -> Result<(), Error> {
    match (kind.is_dm(), actor) {
        (true, None) => Err(Error::new(Code::ActorRequired, "a dm Membership is for one actor")),
        (false, Some(_)) => Err(Error::new(Code::ActorNotApplicable, "only a dm Membership has an actor")),
        _ => Ok(()),
    }
}

/// Checks the settings of an Agent.
pub fn check_agent(agent: &Agent) -> Result<(), Error> {
    check_name(&agent.name)?;
    check_text("profile", &agent.profile, PROFILE_BYTES_MAX)?;
    check_range("maxTurnSeconds", agent.max_turn_seconds, &AGENT_TURN_SECONDS)?;
    check_range("idleSeconds", agent.idle_seconds, &IDLE_SECONDS)?;
    let runtime = &agent.runtime;
    check_word("runtime.sandbox", runtime.sandbox.as_deref(), SANDBOXES)?;
    check_word("runtime.approval", runtime.approval.as_deref(), APPROVALS)?;
    for (field, value) in [
        ("runtime.model", &runtime.model),
        ("runtime.effort", &runtime.effort),
        ("runtime.endpoint", &runtime.endpoint),
        ("cwd", &agent.cwd),
    ] {
        check_text(field, value.as_deref().unwrap_or(""), SETTING_BYTES_MAX)?;
    }
    runtime.endpoint.as_deref().map_or(Ok(()), check_endpoint)?;
    if agent.cwd.as_deref().is_some_and(|cwd| !cwd.starts_with('/')) {
        return Err(Error::invalid("cwd", "use an absolute path"));
    }
    if runtime.command.len() > ARGUMENTS_MAX {
        return Err(Error::invalid("runtime.command", format!("use at most {ARGUMENTS_MAX} arguments")));
    }
    runtime.command.iter().try_for_each(|word| check_text("runtime.command", word, SETTING_BYTES_MAX * 4))
}

/// Refuses a URL that names a user or password before its host, in any spelling that a parser takes.
fn check_endpoint(url: &str) -> Result<(), Error> {
    let rest = url.split_once(':').map_or(url, |(_, rest)| rest).trim_start_matches(['/', '\\']);
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or("");
    if authority.contains('@') {
        let message = "runtime.endpoint: a URL holds no user or password";
        return Err(Error::new(Code::SecretInInput, message).with_detail("field", "runtime.endpoint"));
    }
    Ok(())
}

fn check_word(field: &str, value: Option<&str>, allowed: &[&str]) -> Result<(), Error> {
    match value {
        Some(word) if !allowed.contains(&word) => {
            Err(Error::invalid(field, format!("use one of {}", allowed.join(", "))))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_sizes() {
        assert!(check_range("ttlSeconds", 60, &TTL_SECONDS).is_ok());
        assert!(check_range("ttlSeconds", 59, &TTL_SECONDS).is_err());
        assert!(check_range("ttlSeconds", 604_801, &TTL_SECONDS).is_err());
        assert!(membership_texts("n", "p", "r", &"g".repeat(16_000)).is_ok());
        let error = membership_texts("n", "p", "r", &"g".repeat(16_001)).unwrap_err();
        assert_eq!(error.code, Code::TooLarge);
    }

    #[test]
    fn only_a_dm_membership_has_an_actor() {
        let code = |kind, actor| check_membership_actor(kind, actor).map_err(|error| error.code);
        assert_eq!(code(ConversationType::Dm, None), Err(Code::ActorRequired));
        assert_eq!(code(ConversationType::Group, Some("U1")), Err(Code::ActorNotApplicable));
        assert_eq!(code(ConversationType::Dm, Some("U1")), Ok(()));
    }

    #[test]
    fn an_endpoint_holds_no_login() {
        let checked = |endpoint: &str| check_endpoint(endpoint).map_err(|error| error.code);
        for good in ["https://models.example/v1", "http://127.0.0.1:9/v1?user=a@b", "https://h/a@b"] {
            assert_eq!(checked(good), Ok(()), "{good}");
        }
        for bad in ["https://u:p@h/v1", "https://u@h", "https:u:p@h", "https:\\\\u:p@h", "u:p@h"] {
            assert_eq!(checked(bad), Err(Code::SecretInInput), "{bad}");
        }
    }
}
