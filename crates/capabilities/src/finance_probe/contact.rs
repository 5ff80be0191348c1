//! Who asks: the SEC wants a name and an e-mail address in the User-Agent of each request.
//!
//! Source: «Accessing EDGAR Data»,
//! <https://www.sec.gov/search-filings/edgar-search-assistance/accessing-edgar-data>.

use loom_domain::{Code, Error, Result};

use crate::Cx;

/// Environment variable with the contact.
pub(super) const VARIABLE: &str = "LOOM_SEC_CONTACT";
/// Longest contact in bytes.
const BYTES_MAX: usize = 200;

/// `loom/VERSION (NAME EMAIL)`, of what was given, else of the environment; without either `contact_required`.
pub(super) fn user_agent(cx: &Cx, given: Option<&str>) -> Result<String> {
    let found = given.map(str::to_owned).or_else(|| cx.variable(VARIABLE));
    let found = found.ok_or_else(|| needed("no contact is set"))?;
    let (name, email) = parse(&found)?;
    Ok(format!("loom/{} ({name} {email})", env!("CARGO_PKG_VERSION")))
}

/// `NAME EMAIL` or `NAME <EMAIL>`.
fn parse(text: &str) -> Result<(String, String)> {
    if text.len() > BYTES_MAX {
        return Err(needed("the contact is over 200 bytes"));
    }
    // It stands in a header, inside parentheses.
    if !text.chars().all(|c| (' '..='~').contains(&c) && !matches!(c, '(' | ')' | '\\')) {
        return Err(needed("the contact has characters other than letters, digits and signs of ASCII"));
    }
    let (name, email) =
        text.trim().rsplit_once(' ').ok_or_else(|| needed("a contact has a name and an e-mail address"))?;
    let email = email.trim_start_matches('<').trim_end_matches('>');
    if !is_email(email) {
        return Err(needed("the contact has no e-mail address at its end"));
    }
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.chars().any(char::is_alphanumeric) {
        return Ok((name, email.to_owned()));
    }
    Err(needed("the contact has no name"))
}

fn is_email(text: &str) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && !part.ends_with('.')
            && !part.contains(['@', '<', '>', ','])
    };
    text.split_once('@').is_some_and(|(local, host)| is_plain(local) && is_plain(host) && host.contains('.'))
}

fn needed(why: &str) -> Error {
    Error::new(Code::ContactRequired, format!("the SEC wants a contact: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAP-097: a contact is a name and an e-mail address, and nothing that breaks a header.
    #[test]
    fn cap_097_a_contact_has_a_name_and_an_email() {
        let expected = ("Ann Example".to_owned(), "ann@example.com".to_owned());
        for text in ["Ann Example ann@example.com", "Ann  Example <ann@example.com>"] {
            assert_eq!(parse(text).unwrap(), expected);
        }
        let long = format!("{} a@b.example", "x".repeat(200));
        for text in [
            "",
            "ann@example.com",
            "Ann",
            "Ann ann@host",
            "Ann @b.c",
            "A\r\nB a@b.c",
            "A (x) a@b.c",
            "- a@b.c",
            &long,
        ] {
            assert_eq!(parse(text).unwrap_err().code, Code::ContactRequired, "{text}");
        }
    }
}
