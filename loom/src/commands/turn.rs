//! `loom turn`; without a further word it lists.

mod cancel;
mod list;
mod order;
mod payload;
mod plan;
mod print;
mod remote;
mod resume;
mod run;
mod running;
mod schedule;
mod show;

use clap::Subcommand;
use loom_capabilities::TurnRoom;

use crate::compose::world;
use crate::context::Context;
use crate::failure::Outcome;

/// Run connectors, then an Agent, with a journal
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom turn run --connector github_public_probe",
    "loom turn list"
))]
pub(crate) struct Turn {
    #[command(subcommand)]
    command: Option<Command>,
}

/// What to do with Turns.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    Plan(plan::Args),
    Run(run::Args),
    Show(show::Args),
    List(list::Args),
    Resume(resume::Args),
    Cancel(cancel::Args),
    Payload(payload::Args),
    /// Turns that run at times of your own
    #[command(subcommand)]
    Schedule(schedule::Command),
}

impl Turn {
    /// Whether Ctrl-C is the command's own, orderly end.
    pub(super) fn ends_itself(&self) -> bool {
        matches!(self.command, Some(Command::Run(_) | Command::Resume(_)))
    }
}

/// Runs one of them.
pub(crate) async fn run(turn: Turn, cx: &mut Context<'_, '_>) -> Outcome {
    match turn.command {
        None => Box::pin(list::run(&list::Args::default(), cx)).await,
        Some(Command::Plan(args)) => Box::pin(plan::run(args, cx)).await,
        Some(Command::Run(args)) => Box::pin(run::run(args, cx)).await,
        Some(Command::Show(args)) => Box::pin(show::run(&args, cx)).await,
        Some(Command::List(args)) => Box::pin(list::run(&args, cx)).await,
        Some(Command::Resume(args)) => Box::pin(resume::run(args, cx)).await,
        Some(Command::Payload(args)) => Box::pin(payload::run(args, cx)).await,
        Some(Command::Schedule(command)) => Box::pin(schedule::run(command, cx)).await,
        Some(Command::Cancel(args)) => Box::pin(cancel::run(&args, cx)).await,
    }
}

/// The Turns of this home.
fn room(cx: &Context<'_, '_>) -> TurnRoom {
    TurnRoom::new(&cx.env.home(), world::payloads(cx.env))
}
