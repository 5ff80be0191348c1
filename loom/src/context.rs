//! What a running command works with: its flags, its hub and its printer.

use std::path::Path;

use loom_api::{Client, Endpoint};
use loom_domain::{Code, Error, Result};
use loom_secrets::private_file::read_private;

use crate::cli::Globals;
use crate::cli::order::Order;
use crate::commands::HttpWebhook;
use crate::environment::Environment;
use crate::failure::Outcome;
use crate::output::Printer;

/// What a running command works with.
pub(crate) struct Context<'a, 'p> {
    /// Flags of every command.
    pub(crate) globals: Globals,
    /// What is asked of a capability.
    pub(crate) order: Option<Box<Order>>,
    /// What is ordered of webhooks.
    pub(crate) hook: Option<Box<HttpWebhook>>,
    /// The process.
    pub(crate) env: &'a mut Environment,
    /// The printer.
    pub(crate) out: &'a mut Printer<'p>,
}

impl<'a, 'p> Context<'a, 'p> {
    /// Puts the parts together.
    pub(crate) fn new(globals: Globals, env: &'a mut Environment, out: &'a mut Printer<'p>) -> Self {
        Context { globals, order: None, hook: None, env, out }
    }

    /// The hub: `--url`, else `LOOM_URL`, else `LOOM_SOCKET`, else the socket of the data directory.
    pub(crate) fn hub(&self) -> Result<Client> {
        client(self.env, self.globals.url.as_deref())
    }

    /// Goes on when `--yes` was given; else fails with `confirmation_required` and what would happen.
    pub(crate) fn confirmed(&mut self, what: &str) -> Outcome {
        if self.globals.yes || self.globals.dry_run {
            return self.out.note(what);
        }
        Err(Error::new(Code::ConfirmationRequired, what.to_owned()).with_hint("Repeat it with --yes.").into())
    }
}

/// The client of the hub that the environment names.
pub(crate) fn hub_of(env: &Environment) -> Result<Client> {
    client(env, None)
}

fn client(env: &Environment, url: Option<&str>) -> Result<Client> {
    let endpoint = match url.or_else(|| env.get("LOOM_URL")) {
        Some(url) => Endpoint::parse(url)?,
        None => Endpoint::Unix(env.socket()),
    };
    Ok(Client::new(endpoint, token(env)?))
}

/// The token: from `LOOM_TOKEN_FILE`, else `LOOM_TOKEN`. Inside a Turn there must be one.
fn token(env: &Environment) -> Result<Option<String>> {
    if let Some(path) = env.get("LOOM_TOKEN_FILE") {
        let bytes = read_private(Path::new(path))?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| Error::new(Code::CredentialFileRefused, "LOOM_TOKEN_FILE does not hold a token"))?;
        return Ok(Some(text.trim().to_owned()));
    }
    match (env.get("LOOM_TOKEN"), env.get("LOOM_TURN_ID")) {
        (Some(token), _) => Ok(Some(token.to_owned())),
        (None, Some(_)) => {
            Err(Error::new(Code::Unauthenticated, "inside a Turn the Agent's token is needed")
                .with_hint("Set LOOM_TOKEN_FILE to the file the runtime was given."))
        }
        (None, None) => Ok(None),
    }
}
