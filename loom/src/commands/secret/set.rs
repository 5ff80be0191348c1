//! `loom secret set`.

use std::path::Path;

use loom_domain::{Code, Error, Result};
use loom_secrets::{KeySource, SECRET_BYTES_MIN, Secret, VAULT_ENTRY_BYTES_MAX};
use serde_json::json;

use super::{entry_name, with_vault};
use crate::context::Context;
use crate::credentials;
use crate::environment::Environment;
use crate::failure::Outcome;
use crate::input::body::read_limited;

/// Store a secret, from stdin or a file
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom secret set slack.docs --file tokens.json",
    "loom secret set webhook.key --file -"
))]
pub(crate) struct Args {
    /// Name of the entry; its reference is vault:NAME
    #[arg(value_parser = entry_name)]
    name: String,
    /// Private file (mode 0600) with the value, or - for standard input
    #[arg(long, value_name = "F", default_value = "-")]
    file: String,
}

/// Stores it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let value = match args.file.as_str() {
        "-" => from_stdin(cx.env)?,
        path => credentials::read_secret(Path::new(path))?,
    };
    if value.len() < SECRET_BYTES_MIN {
        let message = format!("the value is shorter than {SECRET_BYTES_MIN} bytes");
        return Err(Error::new(Code::InvalidInput, message)
            .with_hint("It is no secret; check what was piped in.")
            .into());
    }
    let (name, dry_run) = (args.name.clone(), cx.globals.dry_run);
    let (created, source) = with_vault(cx, move |vault| {
        let created = !vault.list()?.contains(&name);
        if !dry_run {
            vault.set(&name, &value)?;
        }
        Ok((created, vault.key_source()?))
    })
    .await?;
    let reference = format!("vault:{}", args.name);
    let beside = "the vault's key lies beside it: it protects copies of the vault, not this machine";
    let warnings = if source == Some(KeySource::KeyFile) { vec![beside] } else { Vec::new() };
    let done = json!({
        "object": {"name": args.name, "ref": reference}, "created": created, "changed": ["value"],
        "warnings": warnings, "operationId": null, "dryRun": dry_run,
    });
    cx.out.mutation_as(&done, &format!("{} {reference}", if created { "stored" } else { "replaced" }))
}

/// The value that is piped in; a value typed at a terminal would stay on the screen.
fn from_stdin(env: &mut Environment) -> Result<Secret> {
    if env.stdin.is_terminal {
        return Err(Error::new(Code::MissingField, "pipe the value in, or name a private file with --file")
            .with_hint("loom secret set NAME --file F"));
    }
    read_limited(&mut env.stdin.reader, VAULT_ENTRY_BYTES_MAX).map(Secret::new).map_err(|error| {
        let is_long = error.code == Code::TextTooLong;
        let message = format!("the value is larger than {VAULT_ENTRY_BYTES_MAX} bytes");
        if is_long { Error::new(Code::TooLarge, message) } else { error }
    })
}
