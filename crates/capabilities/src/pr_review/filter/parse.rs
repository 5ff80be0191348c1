//! Terms as people write them.

use loom_domain::{Code, Error, Result, Timestamp};

use super::{Filter, Key, Term};
use crate::pr_review::pull::time;

/// Most terms.
const TERMS_MAX: usize = 64;
/// Every term, as the error lists them.
const KNOWN: &[&str] = &[
    "open",
    "closed",
    "merged",
    "all",
    "draft",
    "ready",
    "author:LOGIN",
    "reviewer:LOGIN",
    "label:\"NAME\"",
    "base:BRANCH",
    "head:BRANCH",
    "review:approved|changes_requested|required|none",
    "checks:passing|failing|pending|none|unknown",
    "mergeable:yes|no|unknown",
    "since:DATE",
    "updated:DATE",
    "number:N",
];
const STATES: [&str; 3] = ["open", "closed", "merged"];

impl Filter {
    /// Reads terms separated by spaces or commas; `-` before one negates it. Without a state, open ones are wanted.
    pub(in crate::pr_review) fn parse(text: &str) -> Result<Self> {
        let mut terms = Vec::new();
        for word in words(text)? {
            let (negated, word) = word.strip_prefix('-').map_or((false, word.as_str()), |rest| (true, rest));
            let all = (word == "all").then(|| STATES.map(|state| (Key::State, state.to_owned())).to_vec());
            let found = match all {
                Some(all) => all,
                None => vec![term(word).ok_or_else(|| unknown(word))?],
            };
            terms.extend(found.into_iter().map(|(key, value)| Term { key, value, negated }));
            if terms.len() > TERMS_MAX {
                return Err(Error::new(Code::Usage, format!("a filter has at most {TERMS_MAX} terms")));
            }
        }
        if !terms.iter().any(|term| term.key == Key::State) {
            terms.push(Term { key: Key::State, value: "open".to_owned(), negated: false });
        }
        Ok(Filter(terms))
    }
}

fn unknown(word: &str) -> Error {
    let shown: String = word.chars().take(80).collect();
    Error::new(Code::Usage, format!("`{shown}` is no term of a filter"))
        .with_hint(format!("terms: {}", KNOWN.join(" ")))
        .with_detail("terms", KNOWN)
}

/// Words between spaces and commas; quotes hold them together.
fn words(text: &str) -> Result<Vec<String>> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for character in text.chars() {
        match character {
            '"' => quoted = !quoted,
            ' ' | ',' | '\t' | '\n' if !quoted => words.push(std::mem::take(&mut word)),
            _ => word.push(character),
        }
    }
    if quoted {
        return Err(Error::new(Code::Usage, "a quote of the filter is not closed"));
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    Ok(words)
}

fn term(word: &str) -> Option<(Key, String)> {
    let Some((key, value)) = word.split_once(':') else {
        let key = match word {
            "open" | "closed" | "merged" => Key::State,
            "draft" | "ready" => Key::Draft,
            _ => return None,
        };
        return Some((key, word.to_owned()));
    };
    let one_of = |words: &[&str]| words.contains(&value).then(|| value.to_owned());
    let text = || (!value.is_empty()).then(|| value.to_owned());
    let (key, value) = match key {
        "author" => (Key::Author, text()),
        "reviewer" => (Key::Reviewer, text()),
        "label" => (Key::Label, text()),
        "base" => (Key::Base, text()),
        "head" => (Key::Head, text()),
        "review" => (Key::Review, one_of(&["approved", "changes_requested", "required", "none"])),
        "checks" => (Key::Checks, one_of(&["passing", "failing", "pending", "none", "unknown"])),
        "mergeable" => (Key::Mergeable, one_of(&["yes", "no", "unknown"])),
        "since" => (Key::Since, date(value)),
        "updated" => (Key::Updated, date(value)),
        "number" => {
            (Key::Number, crate::github::parse_number(value, u64::MAX).map(|number| number.to_string()))
        }
        _ => return None,
    };
    Some((key, value?))
}

/// A day or a time, in the form in which times compare as texts.
fn date(value: &str) -> Option<String> {
    let day = || format!("{value}T00:00:00Z").parse::<Timestamp>().ok().map(|time| time.to_string());
    time(value).or_else(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_read_and_others_are_refused_with_the_list() {
        let filter =
            Filter::parse("open, -draft label:\"good first issue\"  author:kim since:2026-01-02").unwrap();
        assert_eq!(filter.0.len(), 5);
        assert!(filter.0.contains(&Term {
            key: Key::Label,
            value: "good first issue".into(),
            negated: false
        }));
        assert!(filter.0.contains(&Term { key: Key::Draft, value: "draft".into(), negated: true }));
        assert_eq!(filter.0[4].value, "2026-01-02T00:00:00.000Z");
        for text in [
            "opened",
            "review:maybe",
            "label:",
            "since:yesterday",
            "number:01",
            "foo:bar",
            "label:\"open",
            "-",
            ":",
        ] {
            assert_eq!(Filter::parse(text).unwrap_err().code, Code::Usage, "{text}");
        }
        assert!(Filter::parse("x").unwrap_err().detail["terms"].as_array().unwrap().len() > 10);
        assert_eq!(Filter::parse(&"draft ".repeat(80)).unwrap_err().code, Code::Usage);
    }

    #[test]
    fn the_list_that_is_read_follows_the_states() {
        for (text, state) in [
            ("", "open"),
            ("draft", "open"),
            ("closed", "closed"),
            ("merged", "closed"),
            ("merged closed", "closed"),
            ("open merged", "all"),
            ("all", "all"),
            ("-open", "closed"),
            ("all -merged", "all"),
            ("-merged", "all"),
        ] {
            assert_eq!(Filter::parse(text).unwrap().list_state(), state, "{text}");
        }
    }
}
