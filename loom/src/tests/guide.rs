//! The operator guide.

use clap::FromArgMatches as _;

use super::{id, run_alone};
use crate::cli::{self, Cli};
use crate::commands::skill::GUIDE;

/// Splits a line at spaces and puts a value for each placeholder.
fn words(line: &str) -> Vec<String> {
    let ids = [
        ("CON", "con"),
        ("ADR", "adr"),
        ("MEM", "mem"),
        ("INB", "inb"),
        ("OUT", "out"),
        ("EVT", "evt"),
        ("ART", "art"),
        ("PART", "part"),
        ("NTC", "ntc"),
        ("TOK", "tok"),
        ("PLAN", "op"),
    ];
    line.split_whitespace()
        .map(|word| match ids.iter().find(|(name, _)| *name == word) {
            Some((_, prefix)) => id(prefix),
            None => word.to_lowercase(),
        })
        .collect()
}

/// MSG-002, MSG-001: every command line of the guide is known to the parser.
#[test]
fn msg_002_every_line_of_the_guide_parses() {
    let mut lines = 0;
    for line in GUIDE.lines().filter_map(|line| line.strip_prefix("    ")) {
        lines += 1;
        let line = line.trim();
        let original: Vec<&str> = line.split_whitespace().collect();
        let mut words = words(line);
        // Lower case is for placeholders alone; provider ids keep theirs.
        for (word, as_written) in words.iter_mut().zip(&original) {
            if as_written.chars().any(|c| c.is_ascii_digit() || c == ':' || c == '/')
                && !as_written.contains('_')
            {
                *word = (*as_written).to_owned();
            }
        }
        let parsed =
            cli::command().try_get_matches_from(&words).and_then(|matches| Cli::from_arg_matches(&matches));
        assert!(parsed.is_ok(), "{line}\n{}", parsed.unwrap_err());
    }
    assert!(lines > 80, "{lines}");
}

/// MSG-002: the guide names the four layers and the program only by name.
#[test]
fn msg_002_the_guide_is_printed() {
    let ran = run_alone(&["skill", "print", "loom-integrations"]);
    assert_eq!(ran.exit, 0);
    for word in ["Connection", "Address", "Membership", "Inbox", "Loom CLI unavailable"] {
        assert!(ran.out.contains(word), "{word}");
    }
    assert!(!ran.out.contains("/loom ") && !ran.out.contains("loopx"));
}

/// MSG-004: an Agent that cannot find the program reports it; the guide offers no path to try.
#[test]
fn msg_004_the_guide_tells_to_report_a_missing_program() {
    let advice: String =
        GUIDE.lines().take_while(|line| !line.starts_with("## ")).collect::<Vec<_>>().join(" ");
    assert!(advice.contains("Run the program as `loom`, never by a path."), "{advice}");
    assert!(advice.contains("report \"Loom CLI unavailable\" and stop"), "{advice}");
    let called = GUIDE.lines().filter_map(|line| line.strip_prefix("    "));
    assert!(called.clone().all(|line| line.starts_with("loom ")), "{:?}", called.collect::<Vec<_>>());
}

/// Every command stands in the guide, but those about the program itself.
#[test]
fn msg_002_every_messaging_command_is_in_the_guide() {
    let root = cli::whole();
    for noun in [
        "agent",
        "thread",
        "integration",
        "conversation",
        "inbox",
        "outbox",
        "where",
        "policy",
        "notices",
        "audit",
    ] {
        let command = root.find_subcommand(noun).unwrap();
        for (path, _) in cli::leaves(command, noun) {
            assert!(GUIDE.contains(&format!("loom {path}")), "{path} is not in the guide");
        }
    }
}
