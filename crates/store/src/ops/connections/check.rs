//! Checks of a Connection's settings (messaging specification 1.4).

use std::net::IpAddr;

use loom_domain::{Code, Connection, Error, Result};

const REF_BYTES_MAX: usize = 256;
const URL_BYTES_MAX: usize = 2_048;
const CREDENTIAL_SCHEMES: &[&str] = &["env:", "keychain:", "vault:", "file:"];
const API_SCHEMES: &[&str] = &["https", "http"];
const PROXY_SCHEMES: &[&str] = &["https", "http", "socks5h"];

/// Refuses records that are read-only for good.
pub(crate) fn check_live(connection: &Connection) -> Result<()> {
    if let Some(canonical) = &connection.superseded_by {
        return Err(Error::new(Code::Superseded, format!("{} was superseded by {canonical}", connection.id))
            .with_detail("id", canonical.as_str()));
    }
    if connection.archived_at.is_some() {
        return Err(Error::new(Code::Archived, format!("{} is archived", connection.id)));
    }
    Ok(())
}

/// Checks every setting.
pub(super) fn settings(connection: &Connection) -> Result<()> {
    reference("accountRef", &connection.account_ref)?;
    if let Some(scope) = &connection.scope_ref {
        reference("scopeRef", scope)?;
    }
    credential(&connection.credential_ref)?;
    match connection.brand.as_deref() {
        None => {}
        Some("feishu" | "lark") if connection.provider == "feishu" => {}
        Some(_) => return Err(Error::invalid("brand", "use feishu or lark, with provider feishu")),
    }
    if let Some(text) = &connection.api_url {
        url("apiUrl", text, API_SCHEMES, connection.allow_http)?;
    }
    if let Some(text) = &connection.proxy_url {
        url("proxyUrl", text, PROXY_SCHEMES, connection.allow_http)?;
    }
    Ok(())
}

fn reference(field: &str, text: &str) -> Result<()> {
    if text.is_empty() || text.len() > REF_BYTES_MAX || text.chars().any(char::is_control) {
        return Err(Error::invalid(field, format!("use 1 to {REF_BYTES_MAX} bytes")));
    }
    Ok(())
}

/// A credential is named, never given. The value is not repeated in the error.
fn credential(text: &str) -> Result<()> {
    reference("credentialRef", text)?;
    let named = CREDENTIAL_SCHEMES.iter().find_map(|scheme| text.strip_prefix(scheme));
    match named {
        Some(name) if !name.trim().is_empty() => Ok(()),
        _ => Err(Error::invalid("credentialRef", "use env:NAME, keychain:SERVICE, vault:NAME or file:PATH")),
    }
}

fn url(field: &str, text: &str, schemes: &[&str], allow_http: bool) -> Result<()> {
    let wrong =
        |why: &str| Error::new(Code::InvalidUrl, format!("{field}: {why}")).with_detail("field", field);
    if text.len() > URL_BYTES_MAX || text.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\') {
        return Err(wrong("no URL, or longer than 2 048 bytes"));
    }
    let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong("use a URL with scheme and host"))?;
    let scheme = scheme.to_ascii_lowercase();
    if !schemes.contains(&scheme.as_str()) {
        return Err(wrong(&format!("use one of {}", schemes.join(", "))));
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    if authority.contains('@') {
        return Err(wrong("a URL holds no user or password"));
    }
    if rest.contains(['?', '#']) {
        return Err(wrong("a base URL holds no query or fragment"));
    }
    let host = host_of(authority).ok_or_else(|| wrong("the host or port is not readable"))?;
    if scheme == "http" && !allow_http && !is_loopback(host) {
        return Err(Error::new(Code::InsecureTransport, format!("{field}: plain http leaves this machine"))
            .with_detail("field", field));
    }
    Ok(())
}

fn host_of(authority: &str) -> Option<&str> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            (host, after.strip_prefix(':').or_else(|| after.is_empty().then_some("")))
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, Some("")),
        },
    };
    let port = port?;
    let is_port = port.is_empty() || port.parse::<u16>().is_ok();
    (is_port && !host.is_empty()).then_some(host)
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_stays_on_this_machine() {
        let code = |text: &str, allow| url("apiUrl", text, API_SCHEMES, allow).map_err(|error| error.code);
        for good in ["https://slack.com/api", "http://127.0.0.1:8080/x", "http://[::1]:9", "http://localhost"]
        {
            assert_eq!(code(good, false), Ok(()), "{good}");
        }
        assert_eq!(code("http://slack.com", false), Err(Code::InsecureTransport));
        assert_eq!(code("http://127.0.0.1.evil.example", false), Err(Code::InsecureTransport));
        assert_eq!(code("http://slack.com", true), Ok(()));
        for bad in [
            "https://u:p@slack.com",
            "ftp://x",
            "https://",
            "slack.com",
            "https://a b",
            "https://h:99999",
            "https://slack.com/api?token=x",
            "https://slack.com?x",
            "https://slack.com/api#x",
        ] {
            assert_eq!(code(bad, true), Err(Code::InvalidUrl), "{bad}");
        }
    }

    #[test]
    fn credentials_are_named_not_given() {
        for good in ["env:SLACK", "keychain:loom.slack", "vault:a", "file:/etc/x"] {
            assert!(credential(good).is_ok(), "{good}");
        }
        for bad in ["", "env:", "abcdefgh", "http:x"] {
            let error = credential(bad).unwrap_err();
            assert!(!error.message.contains("abcdefgh"), "{bad}");
        }
    }
}
