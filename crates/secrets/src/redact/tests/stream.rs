//! The stream gives what one pass over the whole gives.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;

use crate::{Profile, RedactWriter, Redactor, Secret};

const VALUE: &str = "registered+value/0123456789";

fn redactor() -> Redactor {
    let redactor = Redactor::new();
    redactor.register(&Secret::new(VALUE));
    redactor
}

fn streamed(redactor: &Redactor, text: &[u8], chunk: usize) -> String {
    let mut writer = RedactWriter::new(Vec::new(), redactor, Profile::Export);
    text.chunks(chunk).for_each(|chunk| writer.write_all(chunk).unwrap());
    String::from_utf8(writer.finish().unwrap().0).unwrap()
}

/// Pieces of text that hits are made of, and what lies between.
fn fragment() -> impl Strategy<Value = String> {
    let wrapped = STANDARD.encode(format!("{}{VALUE}{}", "x".repeat(70), "y".repeat(50)));
    let wrapped: Vec<String> =
        wrapped.as_bytes().chunks(64).map(|l| String::from_utf8_lossy(l).into()).collect();
    let fixed = [
        VALUE.to_owned(),
        STANDARD.encode(VALUE),
        wrapped.join("\n"),
        format!("ghp_{}", "a1B2c3D4e5".repeat(4)),
        format!("eyJhbGciOiJIUzI1NiJ9.{}.{}", "eyJz".repeat(9), "A1b2".repeat(3_000)),
        "password: ".to_owned(),
        "\"token\": \"".to_owned(),
        "Authorization: Bearer ".to_owned(),
        "Cookie: a=".to_owned(),
        "https://user:pass@".to_owned(),
        "-----BEGIN PRIVATE KEY-----\n".to_owned(),
        "-----END PRIVATE KEY-----".to_owned(),
        "/home/me/file".to_owned(),
        "me@example.org".to_owned(),
        "192.168.0.1".to_owned(),
        "[redacted:email]".to_owned(),
        "[redacted:".to_owned(),
        "\"".to_owned(),
        "\\\"".to_owned(),
        "\n".to_owned(),
        "]".to_owned(),
        " ".to_owned(),
        "é".to_owned(),
        "z".repeat(5_000),
        "plain words, ".repeat(900),
    ];
    prop_oneof![3 => proptest::sample::select(fixed.to_vec()), 1 => "[a-zA-Z0-9 :=\"/@.\\\\\n-]{0,40}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pb_14_chunk_borders_change_nothing(
        parts in proptest::collection::vec(fragment(), 1..60),
        repeat in 1_usize..5,
        chunk in 1_usize..70_000,
    ) {
        let redactor = redactor();
        let text = parts.concat().repeat(repeat);
        let whole = redactor.redact(&text, Profile::Export);
        prop_assert!(streamed(&redactor, text.as_bytes(), chunk) == *whole);
    }

    #[test]
    fn id_18_cap_065_a_second_run_changes_nothing(parts in proptest::collection::vec(fragment(), 1..30)) {
        let redactor = redactor();
        let once = redactor.redact(&parts.concat(), Profile::Export).into_owned();
        let twice = redactor.redact(&once, Profile::Export);
        prop_assert_eq!(&*twice, &*once);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// CAP-067: there is one rule set, whichever way a text takes: to an output, a log, a payload or an answer.
    #[test]
    fn cap_067_every_way_masks_alike(parts in proptest::collection::vec(fragment(), 1..20)) {
        let (redactor, text) = (redactor(), parts.concat());
        let shown = redactor.redact(&text, Profile::Output);
        prop_assert_eq!(&*redactor.redact(&text, Profile::Store), &*shown);
        prop_assert_eq!(&*redactor.redact_bytes(text.as_bytes(), Profile::Store), &*shown);
        let mut log = RedactWriter::new(Vec::new(), &redactor, Profile::Store);
        log.write_all(text.as_bytes()).unwrap();
        prop_assert_eq!(&*String::from_utf8(log.finish().unwrap().0).unwrap(), &*shown);
        let mut document = serde_json::json!({"n": [&text]});
        redactor.redact_json(&mut document, Profile::Store);
        prop_assert_eq!(document["n"][0].as_str().unwrap(), &*shown);
    }
}

#[test]
fn pb_14_a_value_is_found_at_every_place_around_the_border() {
    let redactor = redactor();
    for shift in 0..64 {
        let text = format!("{}{VALUE}{}", "- ".repeat(60_000 + shift), " -".repeat(90_000));
        let out = streamed(&redactor, text.as_bytes(), 4_096);
        assert_eq!(out, text.replace(VALUE, "[redacted:exact_secret]"), "{shift}");
    }
}

#[test]
fn a_key_block_without_an_end_is_masked_to_the_end() {
    let redactor = redactor();
    let text = format!("a -----BEGIN PRIVATE KEY-----\n{}", "MIIB\n".repeat(100_000));
    assert_eq!(streamed(&redactor, text.as_bytes(), 10_000), "a [redacted:pem_block]");
}

#[test]
fn id_18_bytes_that_are_no_text_are_withheld_in_the_stream() {
    let redactor = redactor();
    let text = [b"ok \xff\xfe\xfd ".as_slice(), VALUE.as_bytes(), b" \xe2\x82".as_slice()].concat();
    for chunk in [1, 2, 100] {
        let out = streamed(&redactor, &text, chunk);
        assert_eq!(out, "ok [withheld: 3 bytes] [redacted:exact_secret] [withheld: 2 bytes]");
    }
}

/// ID-19: wherever the readings end, a value between two of them is found, broken over lines or not.
#[test]
fn id_19_a_value_across_two_readings_is_found() {
    let redactor = redactor();
    let wrapped = STANDARD.encode(format!("{}{VALUE}{}", "x".repeat(70), "y".repeat(50)));
    let lines: Vec<_> =
        wrapped.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    let (first, overlap) = (128 * 1024, redactor.engine().overlap_bytes());
    let around = |place: usize| (place - 300..place + 40).step_by(7);
    for held in [VALUE.to_owned(), lines.join("\n")] {
        for before in around(first).chain(around(first - overlap)).chain(around(2 * first)).chain([0]) {
            let text = format!("{}\n{held}\n{}", ".".repeat(before), ".".repeat(300_000));
            assert!(redactor.holds_exact_in(text.as_bytes()).unwrap(), "after {before} bytes");
        }
    }
    let without = format!("{}[redacted:exact_secret]{}", ".".repeat(first - 10), VALUE.to_uppercase());
    assert!(!redactor.holds_exact_in(without.as_bytes()).unwrap());
}
