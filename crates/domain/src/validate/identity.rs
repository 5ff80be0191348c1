//! Providers and external identities in their one canonical form.

use crate::connection::PROVIDERS;
use crate::{Connection, Error};

/// Longest identity, bytes.
const IDENTITY_BYTES_MAX: usize = 256;
const CONNECTOR_NAME_MAX: usize = 32;

/// The provider word, and the brand that an alias sets. `installed` names the connectors that are installed.
pub fn canonical_provider(
    given: &str,
    installed: &[String],
) -> Result<(String, Option<&'static str>), Error> {
    let word = given.trim().to_ascii_lowercase();
    if word == "lark" {
        return Ok(("feishu".to_owned(), Some("lark")));
    }
    let is_external = word.strip_prefix("x-").is_some_and(|name| !name.is_empty()) && is_name(&word);
    if PROVIDERS.contains(&word.as_str()) || is_external || installed.contains(&word) {
        return Ok((word, None));
    }
    let known: Vec<&str> = PROVIDERS.iter().copied().chain(installed.iter().map(String::as_str)).collect();
    Err(Error::invalid("provider", format!("use one of {}, lark, or x-NAME", known.join(", "))))
}

/// `[a-z][a-z0-9-]{1,31}`.
fn is_name(word: &str) -> bool {
    let first = word.chars().next().is_some_and(|c| c.is_ascii_lowercase());
    let rest = word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    first && rest && (2..=CONNECTOR_NAME_MAX).contains(&word.len())
}

fn scheme_of(provider: &str) -> &str {
    if provider == "parall" { "prll" } else { provider }
}

/// The canonical identity: `slack://TEAM/USER`, `feishu://OPEN_ID`, `prll://USER_ID`, `webhook://NAME`. A bare
/// provider id is completed with the Connection's scope.
pub fn canonical_identity(connection: &Connection, given: &str) -> Result<String, Error> {
    let given = given.trim();
    let provider = connection.provider.as_str();
    let scheme = scheme_of(provider);
    let path = match given.split_once("://") {
        Some((word, path)) if is_scheme(word, scheme) => path,
        Some((word, _)) => {
            return Err(wrong(format!("`{word}://` is not an identity of {provider}; use {scheme}://…")));
        }
        None => given,
    };
    let path = if provider == "slack" { slack_path(connection, path)? } else { path.to_owned() };
    if path.is_empty() || path.chars().any(|c| c.is_whitespace() || c.is_control() || "@#*<>?".contains(c)) {
        return Err(wrong("use the provider's stable id, not a name"));
    }
    if provider != "slack" && path.contains('/') {
        return Err(wrong(format!("use {scheme}://ID")));
    }
    let identity = format!("{scheme}://{path}");
    if identity.len() > IDENTITY_BYTES_MAX {
        return Err(wrong(format!("use at most {IDENTITY_BYTES_MAX} bytes")));
    }
    Ok(identity)
}

fn is_scheme(word: &str, scheme: &str) -> bool {
    word.eq_ignore_ascii_case(scheme) || (scheme == "feishu" && word.eq_ignore_ascii_case("lark"))
}

fn slack_path(connection: &Connection, path: &str) -> Result<String, Error> {
    let scope = connection.scope_ref.as_deref().filter(|team| !team.is_empty());
    match (path.split_once('/'), scope) {
        (Some((team, _)), Some(scope)) if team != scope => {
            Err(wrong(format!("the Connection is of team {scope}, the identity of {team}")))
        }
        (Some((team, user)), _) if !team.is_empty() && !user.is_empty() && !user.contains('/') => {
            Ok(format!("{team}/{user}"))
        }
        (Some(_), _) => Err(wrong("use slack://TEAM/USER")),
        (None, Some(scope)) if !path.is_empty() => Ok(format!("{scope}/{path}")),
        (None, _) => Err(wrong("the team is not known; use slack://TEAM/USER")),
    }
}

fn wrong(why: impl std::fmt::Display) -> Error {
    Error::invalid("externalIdentity", why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    fn of(provider: &str, scope: Option<&str>, given: &str) -> Option<String> {
        let mut connection = fixtures::connection();
        provider.clone_into(&mut connection.provider);
        connection.scope_ref = scope.map(str::to_owned);
        canonical_identity(&connection, given).ok()
    }

    #[test]
    fn bare_ids_become_canonical() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(of("slack", Some("T1"), "U1"), some("slack://T1/U1"));
        assert_eq!(of("slack", None, "slack://T9/U1"), some("slack://T9/U1"));
        assert_eq!(of("slack", Some("T1"), "T1/U1"), some("slack://T1/U1"));
        assert_eq!(of("feishu", Some("tenant"), "ou_1"), some("feishu://ou_1"));
        assert_eq!(of("feishu", None, "lark://ou_1"), some("feishu://ou_1"));
        assert_eq!(of("parall", None, "usr_1"), some("prll://usr_1"));
        assert_eq!(of("webhook", None, "ci"), some("webhook://ci"));
        assert_eq!(of("x-irc", None, "bot"), some("x-irc://bot"));
    }

    #[test]
    fn names_and_foreign_schemes_are_refused() {
        assert_eq!(of("slack", None, "U1"), None);
        assert_eq!(of("slack", Some("T1"), "slack://T2/U1"), None);
        assert_eq!(of("slack", Some("T1"), "feishu://ou_1"), None);
        for bad in ["", "@docs", "docs bot", "a*", "a/b", "slack://"] {
            assert_eq!(of("feishu", None, bad), None, "{bad}");
        }
        assert_eq!(of("webhook", None, &"n".repeat(300)), None);
    }

    #[test]
    fn lark_is_an_alias_and_unknown_providers_are_listed() {
        assert_eq!(canonical_provider("Lark", &[]).unwrap(), ("feishu".to_owned(), Some("lark")));
        assert!(canonical_provider("x-irc", &[]).is_ok());
        assert!(canonical_provider("matrix", &["matrix".to_owned()]).is_ok());
        let error = canonical_provider("msn", &[]).unwrap_err();
        assert!(error.message.contains("slack, feishu, parall, webhook"));
    }
}
