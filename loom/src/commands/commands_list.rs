//! `loom commands`.

use serde_json::{Value, json};

use crate::cli::{self, GROUPS};
use crate::context::Context;
use crate::failure::Outcome;

/// List all commands, grouped
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom commands", "loom commands --json"))]
pub(crate) struct Args {}

/// Lists them.
pub(crate) fn run(_args: &Args, cx: &mut Context<'_, '_>) -> Outcome {
    let root = cli::documented();
    let groups = GROUPS.iter().map(|(title, names)| {
        let found = names.iter().filter_map(|name| root.find_subcommand(name));
        let leaves: Vec<_> = found.flat_map(|command| cli::leaves(command, command.get_name())).collect();
        (*title, leaves)
    });
    if cx.out.is_human() {
        return groups.into_iter().try_for_each(|(title, leaves)| {
            cx.out.heading(title)?;
            leaves.iter().try_for_each(|(path, about)| cx.out.line(&format!("  {path:<31} {about}")))
        });
    }
    let items: Vec<Value> = groups
        .flat_map(|(title, leaves)| {
            leaves
                .into_iter()
                .map(move |(path, about)| json!({"group": title, "command": path, "about": about}))
        })
        .collect();
    cx.out.list(&json!({"items": items, "nextCursor": null}), &crate::output::Listing::new(&[], ""))
}
