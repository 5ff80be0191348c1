//! `loom value-connectors`; without a further word it lists.

mod add;
mod approve;
mod history;
mod http_webhook;
mod install_check;
mod list;
mod plan;
mod plans;
mod probe;
mod remove;
mod run_plan;
mod show;
mod source_map;
mod test;
mod validate;

pub(crate) use http_webhook::HttpWebhook;

use std::borrow::Cow;

use clap::Subcommand;

use super::run_order;
use crate::cli::order::Words;
use crate::context::Context;
use crate::failure::Outcome;

/// Turn outside sources into payloads
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom value-connectors list",
    "loom value-connectors github-public-probe --help"
))]
pub(crate) struct ValueConnectors {
    #[command(subcommand)]
    command: Option<Command>,
}

/// What to do with connectors.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Probe(probe::Args),
    InstallCheck(install_check::Args),
    SourceMap(source_map::Args),
    History(history::Args),
    Validate(validate::Args),
    Test(test::Args),
    Add(add::Args),
    Remove(remove::Args),
    Plan(Box<plan::Args>),
    Plans(plans::Args),
    Approve(approve::Args),
    Run(run_plan::Args),
    /// One subcommand per connector
    #[command(external_subcommand)]
    Connector(Vec<String>),
}

impl ValueConnectors {
    /// The words of an order, if this is one.
    pub(super) fn order_words(&self) -> Option<Words<'_>> {
        if self.hook_words().is_some() {
            return None;
        }
        let (under, typed, operation): (_, Cow<'_, [String]>, _) = match self.command.as_ref()? {
            Command::Connector(words) => ("value-connectors", words.into(), None),
            Command::Probe(args) => ("value-connectors probe", args.words().into(), Some("probe")),
            Command::Plan(args) => ("value-connectors plan --connector", args.words()?.into(), None),
            _ => return None,
        };
        let takes_url = matches!(self.command, Some(Command::Plan(_)));
        Some(Words { under, typed, connectors_only: true, operation, takes_url })
    }

    /// The words of a command of webhooks, if this is one.
    pub(super) fn hook_words(&self) -> Option<&[String]> {
        let Some(Command::Connector(words)) = &self.command else { return None };
        let [connector, command, ..] = words.as_slice() else { return None };
        let is_ours = connector.replace('-', "_") == "http_webhook";
        (is_ours && HttpWebhook::names(command)).then_some(words)
    }
}

/// Runs one of them.
pub(crate) async fn run(connectors: ValueConnectors, cx: &mut Context<'_, '_>) -> Outcome {
    match connectors.command {
        None => list::run(list::Args::default(), cx).await,
        Some(Command::List(args)) => list::run(args, cx).await,
        Some(Command::Show(args)) => show::run(args, cx).await,
        Some(Command::InstallCheck(args)) => install_check::run(args, cx).await,
        Some(Command::SourceMap(args)) => source_map::run(args, cx).await,
        Some(Command::History(args)) => history::run(&args, cx),
        Some(Command::Validate(args)) => validate::run(&args, cx),
        Some(Command::Test(args)) => test::run(args, cx).await,
        Some(Command::Add(args)) => add::run(args, cx).await,
        Some(Command::Remove(args)) => remove::run(&args, cx),
        Some(Command::Plan(args)) => Box::pin(plan::run(*args, cx)).await,
        Some(Command::Plans(args)) => plans::run(args, cx).await,
        Some(Command::Approve(args)) => approve::run(args, cx).await,
        Some(Command::Run(args)) => run_plan::run(args, cx).await,
        Some(Command::Connector(_)) if cx.hook.is_some() => Box::pin(http_webhook::run(cx)).await,
        Some(Command::Probe(_) | Command::Connector(_)) => Box::pin(run_order::run(cx)).await,
    }
}
