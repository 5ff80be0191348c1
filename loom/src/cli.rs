//! The command tree and the flags that every command takes.

mod body_flag;
mod groups;
pub(crate) mod hook;
mod nearest;
pub(crate) mod order;
pub(crate) mod parsers;
pub(crate) mod usage;

pub(crate) use body_flag::rewritten;
pub(crate) use groups::{GROUPS, grouped, leaves};
pub(crate) use nearest::nearest;

use clap::{Args, CommandFactory as _, Parser};

use crate::commands::Command;
use crate::output::Format;

/// Columns of help texts.
pub(crate) const HELP_COLUMNS: usize = 80;

/// Connects long-lived agents to chat platforms, under rules, with proof.
#[derive(Debug, Parser)]
#[command(name = "loom", bin_name = "loom", version, max_term_width = HELP_COLUMNS)]
#[command(subcommand_required = true, arg_required_else_help = false)]
pub(crate) struct Cli {
    /// Flags of every command.
    #[command(flatten)]
    pub(crate) globals: Globals,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// What is asked of a capability, once it was read.
    #[arg(skip)]
    pub(crate) order: Option<Box<order::Order>>,
    /// What is ordered of webhooks, once it was read.
    #[arg(skip)]
    pub(crate) hook: Option<Box<crate::commands::HttpWebhook>>,
}

/// Flags of every command; they stand at any position.
#[derive(Debug, Clone, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each flag of a command line is one")]
#[command(next_help_heading = "Global options")]
pub(crate) struct Globals {
    /// Form of the output
    #[arg(long, global = true, value_enum, default_value_t, hide_default_value = true)]
    pub(crate) format: Format,
    /// Same as --format json
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Same as --format
    #[arg(long, global = true, value_enum, hide = true)]
    pub(crate) output: Option<Format>,
    /// Hub to speak to: <http://127.0.0.1:4870> or unix:PATH
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Print the plan and change nothing
    #[arg(long, global = true)]
    pub(crate) dry_run: bool,
    /// Answer prompts with yes
    #[arg(long, global = true)]
    pub(crate) yes: bool,
    /// Print no remarks on stderr
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    /// Print more remarks on stderr
    #[arg(long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Print without colour
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
    /// Cut no cell and show exact times
    #[arg(long, global = true)]
    pub(crate) wide: bool,
}

impl Globals {
    /// The form that was asked for.
    pub(crate) fn format(&self) -> Format {
        match (self.json, self.output) {
            (true, _) => Format::Json,
            (false, Some(format)) => format,
            (false, None) => self.format,
        }
    }
}

/// The tree that command lines are read with: what a command takes is made when the command is reached.
pub(crate) fn command() -> clap::Command {
    Cli::command()
}

/// The whole tree, for help and hints.
pub(crate) fn whole() -> clap::Command {
    made(command())
}

/// The whole tree with a command for each connector, for lists and manuals.
pub(crate) fn documented() -> clap::Command {
    made(command().mut_subcommand("value-connectors", |group| group.subcommands(order::documented())))
}

fn made(mut command: clap::Command) -> clap::Command {
    command.build();
    let help = grouped(&command);
    command.override_help(help)
}

/// The form that a command line asks for, also when it cannot be parsed.
pub(crate) fn format_of(arguments: &[String]) -> Format {
    let words: Vec<&str> =
        arguments.iter().skip(1).map(String::as_str).take_while(|word| *word != "--").collect();
    let mut format = Format::Human;
    for (index, word) in words.iter().enumerate() {
        let value = match word.split_once('=') {
            _ if *word == "--json" => Some("json"),
            Some(("--format" | "--output", value)) => Some(value),
            _ if matches!(*word, "--format" | "--output") => words.get(index + 1).copied(),
            _ => None,
        };
        match value {
            Some("json") => format = Format::Json,
            Some("ndjson") => format = Format::Ndjson,
            _ => {}
        }
    }
    format
}
