//! `loom twin`.

mod github;
mod lark;
mod model;
mod sec;
mod slack;

use std::fmt::Display;

use clap::Subcommand;
use loom_domain::{Code, Error};

use crate::context::Context;
use crate::failure::Outcome;

/// Where what a reading twin was asked is seen and made to fail.
const CONTROL: &str = "GET /twin/requests /twin/faults; POST /twin/fault /twin/clear";

/// Which platform to simulate.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    Slack(slack::Args),
    Github(github::Args),
    Sec(sec::Args),
    Lark(lark::Args),
    Model(model::Args),
}

/// Simulates it until Ctrl-C.
pub(crate) async fn run(command: Command, cx: &mut Context<'_, '_>) -> Outcome {
    match command {
        Command::Slack(args) => slack::run(args, cx).await,
        Command::Github(args) => github::run(args, cx).await,
        Command::Sec(args) => sec::run(args, cx).await,
        Command::Lark(args) => lark::run(args, cx).await,
        Command::Model(args) => model::run(args, cx).await,
    }
}

/// The error of a port that a twin does not get.
fn port_taken(port: u16, error: &dyn Display) -> Error {
    Error::new(Code::Locked, format!("port {port}: {error}"))
        .with_hint("Take another --port, or leave it out for a free one.")
}

/// Waits for Ctrl-C, the usual end of a twin.
async fn until_stopped(cx: &mut Context<'_, '_>) -> Outcome {
    cx.out.flush()?;
    tokio::signal::ctrl_c().await?;
    Ok(())
}
