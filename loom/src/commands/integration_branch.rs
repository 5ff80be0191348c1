//! `loom integration-branch`; without a further word it tells how hub and branch stand.

mod apply;
mod desk;
mod diff;
mod export;
mod init;
pub(crate) mod key;
mod plan;
mod propose;
mod rollback;
mod status;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Outcome;

/// Keep the configuration under git
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom integration-branch init --repo ../config",
    "loom integration-branch apply --dry-run"
))]
pub(crate) struct IntegrationBranch {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    Init(init::Args),
    Status(status::Args),
    Export(export::Args),
    Diff(diff::Args),
    Propose(propose::Args),
    Apply(apply::Args),
    Rollback(rollback::Args),
}

/// Runs one of them.
pub(crate) async fn run(branch: IntegrationBranch, cx: &mut Context<'_, '_>) -> Outcome {
    match branch.command {
        None => status::run(status::Args::default(), cx).await,
        Some(Command::Init(args)) => Box::pin(init::run(args, cx)).await,
        Some(Command::Status(args)) => status::run(args, cx).await,
        Some(Command::Export(args)) => Box::pin(export::run(args, cx)).await,
        Some(Command::Diff(args)) => Box::pin(diff::run(args, cx)).await,
        Some(Command::Propose(args)) => Box::pin(propose::run(args, cx)).await,
        Some(Command::Apply(args)) => Box::pin(apply::run(args, cx)).await,
        Some(Command::Rollback(args)) => Box::pin(rollback::run(args, cx)).await,
    }
}
