//! `loom secret`: the vault of the data directory, opened here and not by the hub.

mod list;
mod rm;
mod set;
mod test;

use clap::Subcommand;
use loom_domain::{Code, Error, Result};
use loom_secrets::{CredentialRef, Vault};

use crate::context::Context;
use crate::credentials;
use crate::failure::Outcome;

/// What to do with secrets.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    Set(set::Args),
    List(list::Args),
    Rm(rm::Args),
    Test(test::Args),
}

/// Runs one of them. An Agent has no business here: only the owner's own shell has.
pub(crate) async fn run(command: Command, cx: &mut Context<'_, '_>) -> Outcome {
    if cx.env.get("LOOM_TURN_ID").is_some() {
        return Err(Error::new(Code::Forbidden, "inside a Turn the vault cannot be used").into());
    }
    match command {
        Command::Set(args) => set::run(args, cx).await,
        Command::List(args) => list::run(args, cx).await,
        Command::Rm(args) => rm::run(args, cx).await,
        Command::Test(args) => test::run(args, cx).await,
    }
}

/// Works with the vault where blocking is allowed.
async fn with_vault<T: Send + 'static>(
    cx: &Context<'_, '_>,
    work: impl FnOnce(Vault) -> Result<T> + Send + 'static,
) -> Result<T> {
    let (home, variables) = (cx.env.home(), cx.env.variables.clone());
    let open = move || work(credentials::vault(&home, &variables)?);
    tokio::task::spawn_blocking(open).await.map_err(Error::internal)?
}

/// The name of an entry; `vault:NAME` is taken for it too.
fn entry_name(text: &str) -> Result<String> {
    let name = text.strip_prefix("vault:").unwrap_or(text);
    match CredentialRef::parse(&format!("vault:{name}"))? {
        CredentialRef::Vault(name) => Ok(name),
        _ => Err(Error::invalid("name", "expected the name of a vault entry")),
    }
}
