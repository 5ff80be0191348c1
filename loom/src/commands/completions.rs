//! `loom completions`.

use clap_complete::Shell;

use crate::cli;
use crate::context::Context;
use crate::failure::Outcome;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom completions bash > ~/.local/share/bash-completion/completions/loom",
    "loom completions fish | source"
))]
pub(crate) struct Args {
    /// Shell
    shell: Shell,
}

/// Prints it.
pub(crate) fn run(args: &Args, cx: &mut Context<'_, '_>) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::documented(), "loom", &mut script);
    cx.out.document(&String::from_utf8_lossy(&script))
}
