//! The commands, grouped by what people want to do.

use std::fmt::Write as _;

use clap::Command;

/// Groups of command paths in the order of a first day.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    ("Start it", &["demo", "up", "down"]),
    ("See what happens", &["status", "where", "notices", "periodic-report"]),
    ("Connect it", &["agent", "integration", "conversation", "integration-branch", "secret"]),
    ("Talk", &["thread", "inbox", "outbox"]),
    ("Reach out", &["value-connectors", "capability", "turn", "multi-agent", "host-mode-plan", "http"]),
    ("Decide", &["policy"]),
    ("Prove it", &["audit", "requests", "redact", "doctor", "twin"]),
    ("Keep at hand", &["explain", "schema", "commands", "skill", "completions", "man"]),
];

/// Help of the program: a line for each command, in groups.
pub(crate) fn grouped(root: &Command) -> String {
    let mut text =
        String::from("loom connects long-lived agents to chat platforms, under rules, with proof.\n\n");
    text.push_str("Usage: loom [OPTIONS] <COMMAND>\n");
    for (title, names) in GROUPS {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\n{title}:");
        for command in names.iter().filter_map(|name| root.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {:<16} {about}", command.get_name());
        }
    }
    text.push_str("\nEvery command takes --help, --format human|json|ndjson and --url.\n");
    text.push_str("`loom commands` lists all of them; `loom explain CODE` explains an error.\n\n");
    text.push_str("Examples:\n  loom status\n  loom skill print loom-integrations\n");
    text
}

/// Every command that does something, with its path and what it does.
pub(crate) fn leaves(command: &Command, path: &str) -> Vec<(String, String)> {
    let own = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut found: Vec<(String, String)> =
        if is_group_only(command) { Vec::new() } else { vec![(path.to_owned(), own)] };
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        found.extend(leaves(sub, format!("{path} {}", sub.get_name()).trim()));
    }
    found
}

/// Whether a command does nothing without a further word. Words that are ids count as its arguments.
fn is_group_only(command: &Command) -> bool {
    command.is_subcommand_required_set() && !command.is_allow_external_subcommands_set()
}
