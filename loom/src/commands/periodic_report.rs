//! `loom periodic-report`; without a further word it previews the last seven days.

mod ask;
mod history;
mod preview;
mod run;
mod schedule;
mod show;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Outcome;

/// Report what happened in a window of time
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom periodic-report run --window last-week --out reports",
    "loom periodic-report preview --window yesterday --tz Europe/Berlin"
))]
pub(crate) struct PeriodicReport {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    Run(run::Args),
    Preview(preview::Args),
    Show(show::Args),
    History(history::Args),
    /// Reports that are made and delivered at times of your own
    #[command(subcommand)]
    Schedule(schedule::Command),
}

/// Runs one of them.
pub(crate) async fn run(report: PeriodicReport, cx: &mut Context<'_, '_>) -> Outcome {
    match report.command {
        None => preview::run(preview::Args::default(), cx).await,
        Some(Command::Run(args)) => Box::pin(run::run(args, cx)).await,
        Some(Command::Preview(args)) => preview::run(args, cx).await,
        Some(Command::Show(args)) => show::run(args, cx).await,
        Some(Command::History(args)) => history::run(args, cx).await,
        Some(Command::Schedule(command)) => Box::pin(schedule::run(command, cx)).await,
    }
}
