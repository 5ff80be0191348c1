//! Properties of the chunker.

use loom_markup::{Limit, Unit, first_chunk, join, slack, split, split_chunks};
use proptest::prelude::*;

const CHUNKS_MAX: usize = 20;

/// Pieces that generated Markdown is made of.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[a-zA-Z,.!? ]{1,60}",
        2 => "[äß漢字🦊é ]{1,30}",
        2 => Just("\n\n".to_owned()),
        2 => Just("\n".to_owned()),
        1 => Just("👩‍👩‍👧‍👦".repeat(9)),
        1 => Just("\n```rust\nlet x = 1;\n\nlet y = `2`;\n```\n".to_owned()),
        1 => Just("\n> ~~~~\n> quoted code that is long enough to be cut\n> ~~~\n> ~~~~\n".to_owned()),
        1 => Just("- ```\n  in a list\n  ```\n".to_owned()),
        1 => Just("\n```\nunclosed ".to_owned()),
        1 => Just("a ```inline``` b &lt;@U1> <@U123> &amp;".to_owned()),
        1 => "[a-z]{80,200}",
    ]
}

fn markdown() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..40).prop_map(|pieces| pieces.concat())
}

fn limit() -> impl Strategy<Value = Limit> {
    (64usize..300, prop_oneof![Just(Unit::Utf16), Just(Unit::CodePoint), Just(Unit::Byte)])
        .prop_map(|(max, unit)| Limit { max, unit })
}

/// Whether every code fence of the text is closed.
fn is_balanced(text: &str) -> bool {
    let mut open: Option<(char, usize)> = None;
    for line in text.lines() {
        // A list item may open a fence; a list mark inside one is text.
        let marks: &[char] = if open.is_none() { &[' ', '\t', '>', '-'] } else { &[' ', '\t', '>'] };
        let rest = line.trim_start_matches(marks);
        let mark = rest.chars().next().filter(|c| "`~".contains(*c)).unwrap_or(' ');
        let run = rest.chars().take_while(|c| *c == mark && mark != ' ').count();
        let after = rest.get(run..).unwrap_or("");
        open = match open {
            None if run >= 3 && !after.contains('`') => Some((mark, run)),
            Some((m, r)) if m == mark && run >= r && after.trim().is_empty() => None,
            unchanged => unchanged,
        };
    }
    open.is_none()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// MSG-175: every chunk fits the unit, fences balance, and the joined text is equal.
    #[test]
    fn msg_175_chunks_fit_balance_and_join(text in markdown(), limit in limit()) {
        let chunks = split_chunks(&text, limit, usize::MAX).unwrap();
        prop_assert_eq!(join(&chunks), text);
        for chunk in &chunks {
            prop_assert!(limit.unit.of(&chunk.text) <= limit.max, "{:?}", chunk);
            prop_assert!(is_balanced(&chunk.text), "{:?}", chunk);
            prop_assert!(!chunk.body().is_empty());
        }
    }

    /// MSG-176: converting for Slack loses no letter and leaves no control token.
    #[test]
    fn msg_176_slack_text_keeps_every_letter(text in markdown()) {
        let sent = slack::to_slack(&text, &std::collections::BTreeSet::new());
        prop_assert!(!sent.contains("<@") && !sent.contains("<!") && !sent.contains("<#"));
        let letters = |t: &str| t.replace("&lt;", "<").chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        prop_assert_eq!(letters(&sent), letters(&text));
    }

    /// MSG-176: plain text comes back as it was.
    #[test]
    fn msg_176_plain_text_round_trips(text in "[a-z<>&;@!# ]{0,60}") {
        let sent = slack::plain_to_slack(&text);
        prop_assert!(!sent.contains('<'));
        prop_assert_eq!(slack::from_slack(&sent, None, |_| None), text);
    }

    #[test]
    fn any_text_is_cut_without_panic(text in "\\PC{0,400}", limit in limit()) {
        let chunks = split_chunks(&text, limit, usize::MAX).unwrap();
        prop_assert_eq!(join(&chunks), text);
    }
}

#[test]
fn msg_175_the_best_place_is_taken() {
    let limit = Limit::code_points(64);
    let check = |text: &str, want: &[&str]| assert_eq!(split(text, limit, CHUNKS_MAX).unwrap(), want);
    let a = "a".repeat(30);
    check(&format!("{a}\n\n{a}\n{a}"), &[&format!("{a}\n\n"), &format!("{a}\n{a}")]);
    check(&format!("{a}\n{a}\n{a}"), &[&format!("{a}\n{a}\n"), &a]);
    check(&format!("{a}. B {a}, c {a}"), &[&format!("{a}. "), &format!("B {a}, c "), &a].map(|s| s as &str));
    check(&format!("{a} {a} {a}"), &[&format!("{a} {a} "), &a]);
    check(&"🦊".repeat(70), &[&"🦊".repeat(64), &"🦊".repeat(6)]);
    check("", &[]);
}

#[test]
fn msg_175_a_cut_fence_is_closed_and_reopened_with_its_info() {
    let code = "let a = 1;\n".repeat(7);
    let chunks =
        split(&format!("Code:\n\n```rust ignore\n{code}```\nEnd"), Limit::utf16(64), CHUNKS_MAX).unwrap();
    assert_eq!(chunks.first().unwrap(), "Code:\n\n");
    assert!(chunks.len() > 2);
    for chunk in &chunks[1..] {
        assert!(chunk.starts_with("```rust ignore\nlet a"), "{chunk}");
        assert!(chunk.ends_with("```") || chunk.ends_with("```\nEnd"), "{chunk}");
    }
}

#[test]
fn msg_175_entities_and_mentions_stay_whole() {
    let text = format!("{}&lt;x", "y".repeat(61));
    assert_eq!(split(&text, Limit::utf16(64), 9).unwrap(), ["y".repeat(61), "&lt;x".to_owned()]);
}

/// MSG-177: over 20 chunks is refused, and the first chunk is there for the file form.
#[test]
fn msg_177_over_twenty_chunks_is_too_long() {
    let paragraph = format!("{}\n\n", "word ".repeat(2_000));
    let fits = paragraph.repeat(20);
    assert_eq!(split(&fits, slack::MARKDOWN_LIMIT, CHUNKS_MAX).unwrap().len(), 20);
    let over = paragraph.repeat(21);
    let error = split(&over, slack::MARKDOWN_LIMIT, CHUNKS_MAX).unwrap_err();
    assert_eq!(error.chunks_max, 20);
    assert_eq!(first_chunk(&over, slack::MARKDOWN_LIMIT), paragraph);
}
