//! `loom requests`: the request log of the data directory, read here.

mod list;
mod show;

use std::path::PathBuf;

use clap::Subcommand;
use loom_domain::{Code, Error};

use crate::context::Context;
use crate::failure::Outcome;

/// What to see of the request log.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    List(list::Args),
    Show(show::Args),
}

/// Runs one of them. An Agent sees no requests of others.
pub(crate) async fn run(command: Command, cx: &mut Context<'_, '_>) -> Outcome {
    if cx.env.get("LOOM_TURN_ID").is_some() {
        return Err(Error::new(Code::Forbidden, "inside a Turn the request log cannot be read").into());
    }
    match command {
        Command::List(args) => list::run(args, cx).await,
        Command::Show(args) => show::run(args, cx).await,
    }
}

fn dir(cx: &Context<'_, '_>) -> PathBuf {
    cx.env.home().join("logs")
}

/// A log that cannot be read.
fn unreadable(error: &std::io::Error) -> Error {
    Error::new(Code::InvalidInput, format!("the request log cannot be read: {error}"))
}
