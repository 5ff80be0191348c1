//! `loom redact`.

mod check;

use clap::Subcommand;
use loom_domain::{Code, Error};

use crate::context::Context;
use crate::failure::Outcome;

/// What to do with the redactor.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    Check(check::Args),
}

/// Runs one of them. It resolves references, which is the owner's business alone.
pub(crate) async fn run(command: Command, cx: &mut Context<'_, '_>) -> Outcome {
    if cx.env.get("LOOM_TURN_ID").is_some() {
        return Err(Error::new(Code::Forbidden, "inside a Turn no reference can be looked for").into());
    }
    match command {
        Command::Check(args) => Box::pin(check::run(args, cx)).await,
    }
}
