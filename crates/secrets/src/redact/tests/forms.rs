//! Every written form of a registered value.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use proptest::prelude::*;

use super::masked;
use crate::{Profile, Redactor, Rule, Secret};

const CANARY: &str = "canary/7+\"w\\x<&é>~Zq=4?";

fn wrapped(text: &str, columns: usize, ending: &str) -> String {
    let lines: Vec<&str> =
        text.as_bytes().chunks(columns).map(|line| std::str::from_utf8(line).unwrap()).collect();
    lines.join(ending)
}

/// Written forms of the value, as other programs would make them.
fn written(value: &str) -> Vec<String> {
    let json = serde_json::to_string(value).unwrap();
    let json = json[1..json.len() - 1].to_owned();
    let all: String = value
        .bytes()
        .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect();
    let lower: String = value
        .bytes()
        .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02x}") })
        .collect();
    vec![
        value.to_owned(),
        json,
        all,
        lower,
        hex::encode(value),
        hex::encode_upper(value),
        STANDARD.encode(value),
        STANDARD_NO_PAD.encode(value),
        URL_SAFE.encode(value),
        URL_SAFE_NO_PAD.encode(value),
    ]
}

#[test]
fn msg_228_every_form_of_a_canary_is_masked() {
    for form in written(CANARY) {
        let out = masked(&[CANARY], &format!("head {form} tail"));
        assert_eq!(out, "head [redacted:exact_secret] tail", "{form}");
    }
}

#[test]
fn id_20_base64_is_found_at_every_offset_of_a_larger_text() {
    for before in 0..7 {
        for after in 0..4 {
            let body = format!("{}{CANARY}{}", "u:".repeat(before), "z".repeat(after));
            for encoded in [STANDARD.encode(&body), URL_SAFE_NO_PAD.encode(&body)] {
                let out = masked(&[CANARY], &encoded);
                assert!(out.contains("[redacted:exact_secret]"), "{before} {after} {encoded}");
                assert!(!out.contains(&encoded[10..encoded.len() - 6]));
            }
        }
    }
}

#[test]
fn id_18_forms_broken_over_lines_are_found() {
    let body = format!("{}{CANARY}{}", "before ".repeat(30), " after".repeat(30));
    for columns in 60..=80 {
        for ending in ["\n", "\r\n", "\n    ", "\\n", "\\r\\n"] {
            for text in [STANDARD.encode(&body), hex::encode(&body)] {
                let out = masked(&[CANARY], &wrapped(&text, columns, ending));
                assert!(out.contains("[redacted:exact_secret]"), "{columns} {ending:?}");
            }
        }
    }
}

#[test]
fn id_18_short_values_are_not_registered() {
    let redactor = Redactor::new();
    redactor.register(&Secret::new("1234567"));
    assert!(redactor.scan("1234567", Profile::Store).is_empty());
}

#[test]
fn a_forgotten_value_is_no_hit() {
    let redactor = Redactor::new();
    let secret = Secret::new("a-value-of-some-length");
    redactor.clone().register(&secret);
    assert!(redactor.holds_exact("x a-value-of-some-length"));
    redactor.forget(&secret);
    assert!(!redactor.holds_exact("x a-value-of-some-length"));
}

#[test]
fn only_a_registered_value_is_exact() {
    let redactor = Redactor::new();
    let token = format!("token=ghp_{}", "a1B2".repeat(9));
    assert!(!redactor.holds_exact(&token));
    redactor.register(&Secret::new("a1B2a1B2a1B2"));
    assert!(redactor.holds_exact(&token), "inside of what a pattern takes");
    assert!(!redactor.holds_exact("[redacted:exact_secret]"));
}

#[test]
fn a_thousand_values_with_one_prefix_are_all_found() {
    let redactor = Redactor::new();
    let values: Vec<String> = (0..1_000).map(|n| format!("shared-prefix-{n:06}")).collect();
    values.iter().for_each(|value| redactor.register(&Secret::new(value.clone())));
    for value in values {
        assert_eq!(redactor.redact(&value, Profile::Store), Rule::ExactSecret.marker());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn id_18_every_form_of_a_random_secret_is_found(
        value in "[ -~äß]{8,48}",
        before in "[a-z ]{0,90}",
        after in "[a-z ]{0,90}",
    ) {
        let redactor = Redactor::new();
        redactor.register(&Secret::new(value.clone()));
        for form in written(&value) {
            let text = format!("{before}{form}{after}");
            let found = redactor.scan(&text, Profile::Store).iter().any(|hit| {
                hit.start <= before.len() && hit.end >= before.len() + form.trim_end_matches('=').len()
            });
            prop_assert!(found, "{}", text);
            let exact = |hit: &crate::redact::Hit| hit.rule == Rule::ExactSecret;
            prop_assert_eq!(
                redactor.holds_exact(&text),
                redactor.scan(&text, Profile::Store).iter().any(exact)
            );
        }
    }
}
