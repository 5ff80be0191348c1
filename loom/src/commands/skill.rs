//! `loom skill`.

mod print;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Outcome;

#[cfg(test)]
pub(crate) use print::GUIDE;

/// What to do with guides.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    Print(print::Args),
}

/// Does it.
pub(crate) fn run(command: &Command, cx: &mut Context<'_, '_>) -> Outcome {
    match command {
        Command::Print(args) => print::run(args, cx),
    }
}
