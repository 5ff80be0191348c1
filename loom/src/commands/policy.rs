//! `loom policy`.

mod explain;
mod replay;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, pick};

/// Columns of the steps of a judgement.
pub(super) const STEPS: &[Column] = &[
    Column::new("STEP", |v, _| pick::text(v, "step")),
    Column::new("CONDITION", |v, _| pick::text(v, "condition")),
    Column::new("VALUE", |v, _| pick::dash(v, "value")),
    Column::new("RESULT", |v, _| pick::text(v, "result")),
];

/// What to ask.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    Explain(Box<explain::Args>),
    Replay(replay::Args),
}

/// Asks it.
pub(crate) async fn run(command: Command, cx: &mut Context<'_, '_>) -> Outcome {
    match command {
        Command::Explain(args) => explain::run(*args, cx).await,
        Command::Replay(args) => replay::run(args, cx).await,
    }
}
