//! Trust domains: which content may go where (messaging specification 5.10).

use std::collections::BTreeSet;

use crate::{Code, Error};

/// The domain that may go anywhere.
pub const PUBLIC: &str = "public";
/// Longest domain label, bytes.
pub const LABEL_BYTES_MAX: usize = 128;

/// Checks a label: `[a-z0-9][a-z0-9._:/-]{0,127}`.
pub fn check_label(label: &str) -> Result<(), Error> {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let starts_well = label.chars().next().is_some_and(is_word);
    let rest = label.chars().all(|c| is_word(c) || matches!(c, '.' | '_' | ':' | '/' | '-'));
    if starts_well && rest && label.len() <= LABEL_BYTES_MAX {
        return Ok(());
    }
    Err(Error::invalid("trustDomain", "use up to 128 of a-z 0-9 . _ : / -, starting with a letter or digit"))
}

/// Labels of a Turn: those of its Thread, its item's Address, and whatever else it received.
#[must_use]
pub fn turn_labels<'a>(
    thread: &'a [String],
    address_domain: Option<&'a str>,
    received: &'a [String],
) -> BTreeSet<&'a str> {
    thread.iter().chain(received).map(String::as_str).chain(address_domain).collect()
}

/// Labels that keep content out of a domain; empty means it may go there.
#[must_use]
pub fn foreign_labels<'a>(labels: impl IntoIterator<Item = &'a str>, domain: &str) -> Vec<&'a str> {
    labels.into_iter().filter(|label| *label != domain && *label != PUBLIC).collect()
}

/// Checks that all Addresses of one Agent fit together: equal domains, or all in one configured group.
pub fn check_compatible<'a>(
    domains: impl IntoIterator<Item = &'a str>,
    groups: &[Vec<String>],
) -> Result<(), Error> {
    let domains: BTreeSet<&str> = domains.into_iter().collect();
    let is_one_group =
        groups.iter().any(|group| domains.iter().all(|domain| group.iter().any(|entry| entry == domain)));
    if domains.len() <= 1 || is_one_group {
        return Ok(());
    }
    let named: Vec<&str> = domains.into_iter().collect();
    Err(Error::new(Code::TrustConflict, format!("the domains {} do not fit together", named.join(", ")))
        .with_hint("use a separate Agent for the other trust domain"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn msg_066_domains_of_one_agent_must_fit() {
        let groups = vec![vec!["a".to_owned(), "b".to_owned()]];
        assert!(check_compatible(["a", "a"], &[]).is_ok());
        assert!(check_compatible(["a", "b"], &groups).is_ok());
        let error = check_compatible(["a", "c"], &groups).unwrap_err();
        assert_eq!(error.code, Code::TrustConflict);
        assert!(error.hint.unwrap().contains("separate Agent"));
    }

    #[test]
    fn content_goes_only_where_every_label_allows_it() {
        let thread = vec!["acme".to_owned()];
        let received = vec!["public".to_owned()];
        let labels = turn_labels(&thread, Some("acme"), &received);
        assert!(foreign_labels(labels.iter().copied(), "acme").is_empty());
        assert_eq!(foreign_labels(labels, "other"), ["acme"]);
    }

    #[test]
    fn labels_have_one_form() {
        for good in ["local", "slack:t1/x", "9"] {
            assert!(check_label(good).is_ok());
        }
        for bad in ["", "-a", "A", "a b", "é", &"a".repeat(129)] {
            assert!(check_label(bad).is_err(), "{bad}");
        }
    }
}
