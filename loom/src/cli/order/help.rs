//! The command of a capability's operation, with its help.

use std::fmt::Write as _;

use clap::Command;
use loom_capabilities::{Capability, Operation};

use super::{common, flags, global_flags};
use crate::cli::HELP_COLUMNS;

/// The command as it is typed, without `loom`.
pub(super) fn path(capability: &dyn Capability, under: &str) -> String {
    format!("{under} {}", capability.entry().id.replace('_', "-"))
}

/// The command of an operation.
pub(super) fn command(capability: &dyn Capability, operation: &Operation, under: &str) -> Command {
    let entry = capability.entry();
    let input = flags::of(&operation.input.value());
    let taken: Vec<String> = input.iter().filter_map(|arg| arg.get_long().map(str::to_owned)).collect();
    let name = format!("loom {}", path(capability, under));
    Command::new(name.clone())
        .bin_name(name)
        .about(entry.title.clone())
        .max_term_width(HELP_COLUMNS)
        .disable_version_flag(true)
        .args(input)
        .next_help_heading("Options of every run")
        .args(common::flags(&taken))
        .next_help_heading("Global options")
        .args(global_flags(&taken))
        .before_help(operations(capability, operation))
        .after_help(format!("Examples:\n  loom {}\n  loom {}", entry.examples[0], entry.examples[1]))
}

/// The operations, when there is a choice.
fn operations(capability: &dyn Capability, chosen: &Operation) -> String {
    let entry = capability.entry();
    let mut text = String::new();
    if entry.id == "http_webhook" {
        text.push_str("Commands:\n");
        for command in crate::cli::hook::command().get_subcommands() {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "   {:<12} {about}", command.get_name());
        }
        return text;
    }
    if entry.operations.len() < 2 {
        return text;
    }
    text.push_str("Operations (the first word, or --op):\n");
    for operation in &entry.operations {
        let mark = if operation.id == chosen.id { "*" } else { " " };
        // Writing to a String cannot fail.
        let _ = writeln!(text, " {mark} {:<12} {}", operation.id.replace('_', "-"), operation.about);
    }
    text
}
