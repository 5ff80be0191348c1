//! `loom multi-agent`; without a further word it lists.

mod list;
mod logs;
mod print;
mod report;
mod resume;
mod run;
mod status;
mod stop;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Outcome;

/// Let several Agents work in rounds
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom multi-agent run triage.yaml", "loom multi-agent list"))]
pub(crate) struct MultiAgent {
    #[command(subcommand)]
    command: Option<Command>,
}

/// What to do with loops.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    Run(run::Args),
    Status(status::Args),
    Stop(stop::Args),
    Resume(resume::Args),
    Logs(logs::Args),
    List(list::Args),
    Report(report::Args),
}

impl MultiAgent {
    /// Whether Ctrl-C is the command's own, orderly end.
    pub(super) fn ends_itself(&self) -> bool {
        matches!(self.command, Some(Command::Logs(_)))
    }
}

/// Runs one of them.
pub(crate) async fn run(loops: MultiAgent, cx: &mut Context<'_, '_>) -> Outcome {
    match loops.command {
        None => list::overview(cx).await,
        Some(Command::Run(args)) => run::run(args, cx).await,
        Some(Command::Status(args)) => status::run(args, cx).await,
        Some(Command::Stop(args)) => stop::run(args, cx).await,
        Some(Command::Resume(args)) => resume::run(args, cx).await,
        Some(Command::Logs(args)) => logs::run(args, cx).await,
        Some(Command::List(args)) => list::run(args, cx).await,
        Some(Command::Report(args)) => report::run(args, cx).await,
    }
}
