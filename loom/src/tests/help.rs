//! Help texts.

use std::collections::BTreeMap;
use std::path::Path;

use clap::FromArgMatches as _;
use loom_capabilities::{Catalog, Kind};

use super::run_alone;
use crate::cli::{self, Cli, HELP_COLUMNS, order};

fn leaves() -> Vec<(String, String)> {
    cli::leaves(&cli::whole(), "")
}

/// UX-7: help fits 80 columns and ends with two examples, which parse.
#[test]
fn ux_7_help_fits_and_ends_with_two_examples() {
    for (path, _) in leaves() {
        let words: Vec<&str> = path.split(' ').chain(["--help"]).collect();
        let ran = run_alone(&words);
        assert_eq!(ran.exit, 0, "{path}: {}", ran.err);
        for line in ran.out.lines() {
            assert!(line.chars().count() <= HELP_COLUMNS, "{path}: {line}");
        }
        let examples =
            ran.out.split("Examples:\n").nth(1).unwrap_or_else(|| panic!("{path} has no examples"));
        let joined = examples.replace("\\\n", " ");
        let lines: Vec<&str> = joined.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.len(), 2, "{path}: {examples}");
        lines.iter().for_each(|line| parses(line));
    }
}

/// UX-7: the examples of every capability stand in its help as they are typed, and mean what they say: their inputs,
/// ids and addresses are those of a run.
#[test]
fn ux_7_examples_of_capabilities_stand_whole_and_can_be_planned() {
    let catalog = Catalog::builtin();
    for entry in catalog.entries() {
        let under = if entry.kind == Kind::Capability { "capability run" } else { "value-connectors" };
        let words: Vec<&str> = under.split(' ').chain([entry.id.as_str(), "--help"]).collect();
        let help = run_alone(&words).out;
        for example in &entry.examples {
            let typed = format!("  loom {example}\n");
            assert!(help.contains(&typed), "{}: {help}", entry.id);
            assert!(typed.lines().all(|line| line.chars().count() <= HELP_COLUMNS), "{typed}");
            parses(typed.replace("\\\n", " ").trim());
        }
    }
}

/// Prefixes of ids that people type.
const PREFIXES: [&str; 15] = [
    "agt_", "con_", "adr_", "mem_", "cnd_", "evt_", "msg_", "inb_", "trn_", "out_", "art_", "ntc_", "apr_",
    "op_", "grt_",
];

/// Whether a word that begins as an id does goes on as one.
fn is_sound(word: &str) -> bool {
    let rest = PREFIXES.iter().find_map(|prefix| word.strip_prefix(prefix));
    rest.is_none_or(loom_domain::id::is_ulid)
}

/// The words of a line as a shell takes them, without its other powers.
fn split(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Checks one example; what stands behind a pipe or redirection is the shell's.
fn parses(line: &str) {
    let line = line.split(['|', '>']).next().unwrap_or_default().trim();
    let line = line.rsplit_once("loom ").map_or(line, |(_, rest)| rest);
    let words: Vec<String> = std::iter::once("loom".to_owned()).chain(split(line)).collect();
    let words = cli::rewritten(&words);
    let parsed =
        cli::command().try_get_matches_from(&words).and_then(|matches| Cli::from_arg_matches(&matches));
    let mut parsed = parsed.unwrap_or_else(|error| panic!("{line}\n{error}"));
    assert!(words.iter().all(|word| is_sound(word)), "{line}");
    if words.iter().any(|word| word.starts_with("local/")) {
        // Its owner has it.
        return;
    }
    let read = order::read(&mut parsed, Path::new("/nonexistent-loom-home"), &BTreeMap::new());
    assert!(read.is_ok(), "{line}: {:?}", read.err());
    if parsed.order.is_some_and(|order| order.files.is_empty()) {
        let words: Vec<&str> = words[1..].iter().map(String::as_str).chain(["--dry-run"]).collect();
        let planned = run_alone(&words);
        assert_eq!(planned.exit, 0, "{line}: {}", planned.err);
    }
}

/// UX-7: the program's help and `loom commands` show every command in a group.
#[test]
fn ux_7_every_command_has_a_group() {
    let help = run_alone(&["--help"]).out;
    let listed = run_alone(&["commands"]).out;
    for (path, about) in leaves() {
        let noun = path.split(' ').next().unwrap();
        assert!(help.contains(&format!("  {noun} ")), "{noun} is not in the help");
        assert!(listed.contains(&path), "{path} is not listed");
        assert!(!about.is_empty(), "{path} says nothing about itself");
    }
    assert!(
        help.lines().chain(listed.lines()).all(|line| line.chars().count() <= HELP_COLUMNS),
        "{help}{listed}"
    );
}

#[test]
fn the_tree_is_sound() {
    cli::whole().debug_assert();
}

#[test]
fn completions_and_manual_are_made() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run_alone(&["completions", shell]);
        assert!(ran.exit == 0 && ran.out.contains("integration"), "{shell}");
    }
    assert!(run_alone(&["man"]).out.starts_with(".ie"));
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_string_lossy().into_owned();
    assert_eq!(run_alone(&["man", "--out", &out]).exit, 0);
    assert!(dir.path().join("loom-integration-send.1").exists());
    assert!(!dir.path().join("loom-integration-help.1").exists(), "help has no pages of its own");
}

#[test]
fn codes_are_explained() {
    let ran = run_alone(&["explain", "delivery_unknown"]);
    assert!(ran.out.starts_with("delivery_unknown\n") && ran.out.contains("exit status 3"), "{}", ran.out);
    assert_eq!(run_alone(&["explain", "nonsense"]).exit, 1);
}
