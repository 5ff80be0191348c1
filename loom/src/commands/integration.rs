//! `loom integration`.

mod bind;
mod connect;
mod disable;
mod enable;
mod list;
mod policy_flags;
mod probe;
mod send;
mod status;
mod switch;
mod test;
mod token;
mod update_address;
mod update_connection;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Outcome;

/// What to do with Connections and Addresses.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    List(list::Args),
    Status(status::Args),
    Connect(connect::Args),
    UpdateConnection(update_connection::Args),
    Probe(probe::Args),
    Test(test::Args),
    Bind(Box<bind::Args>),
    UpdateAddress(Box<update_address::Args>),
    Enable(enable::Args),
    Disable(disable::Args),
    Send(Box<send::Args>),
    Token(token::Args),
}

/// Runs one of them.
pub(crate) async fn run(command: Command, cx: &mut Context<'_, '_>) -> Outcome {
    match command {
        Command::List(args) => list::run(args, cx).await,
        Command::Status(args) => status::run(args, cx).await,
        Command::Connect(args) => connect::run(args, cx).await,
        Command::UpdateConnection(args) => update_connection::run(args, cx).await,
        Command::Probe(args) => probe::run(args, cx).await,
        Command::Test(args) => test::run(args, cx).await,
        Command::Bind(args) => bind::run(*args, cx).await,
        Command::UpdateAddress(args) => update_address::run(*args, cx).await,
        Command::Enable(args) => enable::run(args, cx).await,
        Command::Disable(args) => disable::run(args, cx).await,
        Command::Send(args) => Box::pin(send::run(*args, cx)).await,
        Command::Token(args) => token::run(args, cx).await,
    }
}
