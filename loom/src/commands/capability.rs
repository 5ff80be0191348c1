//! `loom capability`; without a further word it lists.

mod grant;
mod grants;
pub(super) mod list;
mod revoke;
mod run_id;
pub(super) mod show;

use clap::Subcommand;

use super::run_order;
use crate::cli::order::Words;
use crate::context::Context;
use crate::failure::Outcome;

/// What can be read and done outside
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom capability list", "loom capability show github_public_probe"))]
pub(crate) struct Capability {
    #[command(subcommand)]
    command: Option<Command>,
}

/// What to do with capabilities.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Run(run_id::Args),
    Grant(grant::Args),
    Grants(grants::Args),
    Revoke(revoke::Args),
}

impl Capability {
    /// The words of an order, if this is one.
    pub(super) fn order_words(&self) -> Option<Words<'_>> {
        let Some(Command::Run(args)) = &self.command else { return None };
        let typed = args.words().into();
        Some(Words {
            under: "capability run",
            typed,
            connectors_only: false,
            operation: None,
            takes_url: false,
        })
    }
}

/// Runs one of them.
pub(crate) async fn run(capability: Capability, cx: &mut Context<'_, '_>) -> Outcome {
    match capability.command {
        None => list::run(list::Args::default(), cx).await,
        Some(Command::List(args)) => list::run(args, cx).await,
        Some(Command::Show(args)) => show::run(args, cx).await,
        Some(Command::Grant(args)) => grant::run(args, cx).await,
        Some(Command::Grants(args)) => grants::run(args, cx).await,
        Some(Command::Revoke(args)) => revoke::run(args, cx).await,
        Some(Command::Run(_)) => Box::pin(run_order::run(cx)).await,
    }
}
