//! The commands: one file each, in a folder for its noun.

/// The two examples at the end of a help text.
macro_rules! examples {
    ($first:literal, $second:literal) => {
        concat!("Examples:\n  ", $first, "\n  ", $second)
    };
}

mod agent;
mod audit;
mod capability;
mod commands_list;
mod common;
mod completions;
mod conversation;
mod delivery;
mod explain;
mod host_mode_plan;
mod http;
mod hub_process;
mod inbox;
mod integration;
mod integration_branch;
mod man;
mod multi_agent;
mod notices;
mod outbox;
mod periodic_report;
mod policy;
mod redact;
mod requests;
mod run_order;
mod schedules;
mod schema;
mod secret;
pub(crate) mod skill;
mod status;
mod thread;
mod turn;
mod twin;
mod value_connectors;
mod where_is;

pub(crate) use value_connectors::HttpWebhook;

use clap::Subcommand;

use crate::cli::order::Words;
use crate::context::Context;
use crate::failure::Outcome;

/// What to do.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    Up(hub_process::Up),
    Down(hub_process::Down),
    Status(status::Args),
    #[command(name = "serve-status", hide = true)]
    ServeStatus(status::serve::Args),
    Doctor(hub_process::Doctor),
    Demo(hub_process::Demo),
    /// Create, see and change Agents
    #[command(subcommand)]
    Agent(agent::Command),
    /// See, follow and feed an Agent's Thread
    #[command(subcommand)]
    Thread(thread::Command),
    /// Connections, Addresses and sends
    #[command(subcommand)]
    Integration(integration::Command),
    /// Conversations: what an Address is for in each
    #[command(subcommand)]
    Conversation(conversation::Command),
    IntegrationBranch(integration_branch::IntegrationBranch),
    Inbox(inbox::Inbox),
    Outbox(outbox::Outbox),
    Where(where_is::Args),
    /// Ask how messages are judged
    #[command(subcommand)]
    Policy(policy::Command),
    Notices(notices::Notices),
    PeriodicReport(periodic_report::PeriodicReport),
    /// The chain of audited changes
    #[command(subcommand)]
    Audit(audit::Command),
    /// The log of requests to other hosts
    #[command(subcommand)]
    Requests(requests::Command),
    /// Find secrets that got where they should not be
    #[command(subcommand)]
    Redact(redact::Command),
    /// Send requests through Loom's one door out
    #[command(subcommand)]
    Http(http::Command),
    Explain(explain::Args),
    ValueConnectors(value_connectors::ValueConnectors),
    Capability(capability::Capability),
    Turn(turn::Turn),
    HostModePlan(host_mode_plan::Args),
    MultiAgent(multi_agent::MultiAgent),
    Schema(schema::Args),
    /// Secrets in Loom's vault, named by references
    #[command(subcommand)]
    Secret(secret::Command),
    /// Guides for Agents
    #[command(subcommand)]
    Skill(skill::Command),
    Commands(commands_list::Args),
    /// Simulated platforms for tests
    #[command(subcommand)]
    Twin(twin::Command),
    Completions(completions::Args),
    Man(man::Args),
}

impl Command {
    /// The words that ask something of a capability.
    pub(crate) fn order_words(&self) -> Option<Words<'_>> {
        match self {
            Command::ValueConnectors(connectors) => connectors.order_words(),
            Command::Capability(capability) => capability.order_words(),
            _ => None,
        }
    }

    /// The words of a command of webhooks.
    pub(crate) fn hook_words(&self) -> Option<&[String]> {
        match self {
            Command::ValueConnectors(connectors) => connectors.hook_words(),
            _ => None,
        }
    }

    /// Whether Ctrl-C is this command's own, orderly end; it interrupts the others.
    pub(crate) fn ends_itself(&self) -> bool {
        self.order_words().is_some()
            || matches!(self, Command::Turn(turn) if turn.ends_itself())
            || matches!(self, Command::Status(args) if args.serves())
            || matches!(self, Command::MultiAgent(loops) if loops.ends_itself())
            || matches!(
                self,
                Command::Up(_)
                    | Command::Demo(_)
                    | Command::ServeStatus(_)
                    | Command::Twin(_)
                    | Command::Thread(thread::Command::Tail(_))
            )
    }
}

/// Runs the hub, when that is the command.
pub(crate) fn up(command: Command, cx: &mut Context<'_, '_>) -> Outcome {
    match command {
        Command::Up(args) => hub_process::up(args, cx),
        _ => Ok(()),
    }
}

/// Runs a command.
pub(crate) async fn dispatch(command: Command, cx: &mut Context<'_, '_>) -> Outcome {
    match command {
        Command::Up(_) => Ok(()),
        Command::Down(args) => Box::pin(hub_process::down(args, cx)).await,
        Command::Status(args) => Box::pin(status::run(args, cx)).await,
        Command::ServeStatus(args) => Box::pin(status::serve::run(args, cx)).await,
        Command::Doctor(args) => Box::pin(hub_process::doctor(args, cx)).await,
        Command::Demo(args) => Box::pin(hub_process::demo(args, cx)).await,
        Command::Agent(command) => Box::pin(agent::run(command, cx)).await,
        Command::Thread(command) => Box::pin(thread::run(command, cx)).await,
        Command::Integration(command) => Box::pin(integration::run(command, cx)).await,
        Command::IntegrationBranch(args) => Box::pin(integration_branch::run(args, cx)).await,
        Command::Conversation(command) => Box::pin(conversation::run(command, cx)).await,
        Command::Inbox(command) => Box::pin(inbox::run(command, cx)).await,
        Command::Outbox(command) => Box::pin(outbox::run(command, cx)).await,
        Command::Where(args) => Box::pin(where_is::run(args, cx)).await,
        Command::Policy(command) => Box::pin(policy::run(command, cx)).await,
        Command::PeriodicReport(args) => Box::pin(periodic_report::run(args, cx)).await,
        Command::Notices(command) => Box::pin(notices::run(command, cx)).await,
        Command::Audit(command) => Box::pin(audit::run(command, cx)).await,
        Command::Requests(command) => Box::pin(requests::run(command, cx)).await,
        Command::Redact(command) => Box::pin(redact::run(command, cx)).await,
        Command::Http(command) => Box::pin(http::run(command, cx)).await,
        Command::Secret(command) => Box::pin(secret::run(command, cx)).await,
        Command::ValueConnectors(args) => Box::pin(value_connectors::run(args, cx)).await,
        Command::Capability(args) => Box::pin(capability::run(args, cx)).await,
        Command::Turn(args) => Box::pin(turn::run(args, cx)).await,
        Command::MultiAgent(args) => Box::pin(multi_agent::run(args, cx)).await,
        Command::HostModePlan(args) => Box::pin(host_mode_plan::run(args, cx)).await,
        Command::Schema(args) => schema::run(&args, cx),
        Command::Explain(args) => explain::run(&args, cx),
        Command::Skill(command) => skill::run(&command, cx),
        Command::Commands(args) => commands_list::run(&args, cx),
        Command::Twin(command) => Box::pin(twin::run(command, cx)).await,
        Command::Completions(args) => completions::run(&args, cx),
        Command::Man(args) => man::run(&args, cx),
    }
}
