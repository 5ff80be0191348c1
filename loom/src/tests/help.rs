//! Help texts.

use clap::FromArgMatches as _;

use super::run_alone;
use crate::cli::{self, Cli, HELP_COLUMNS};

fn leaves() -> Vec<(String, String)> {
    cli::leaves(&cli::command(), "")
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

/// Checks one example; what stands behind a pipe or redirection is the shell's.
fn parses(line: &str) {
    let line = line.split(['|', '>']).next().unwrap_or_default().trim();
    let line = line.rsplit_once("loom ").map_or(line, |(_, rest)| rest);
    let mut words = vec!["loom".to_owned()];
    let mut quoted = false;
    for piece in line.split('"') {
        match quoted {
            true => words.push(piece.to_owned()),
            false => words.extend(piece.split_whitespace().map(str::to_owned)),
        }
        quoted = !quoted;
    }
    let words = cli::rewritten(&words);
    let parsed =
        cli::command().try_get_matches_from(&words).and_then(|matches| Cli::from_arg_matches(&matches));
    assert!(parsed.is_ok(), "{line}\n{}", parsed.unwrap_err());
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
    cli::command().debug_assert();
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
}

#[test]
fn codes_are_explained() {
    let ran = run_alone(&["explain", "delivery_unknown"]);
    assert!(ran.out.starts_with("delivery_unknown\n") && ran.out.contains("exit status 3"), "{}", ran.out);
    assert_eq!(run_alone(&["explain", "nonsense"]).exit, 1);
}
