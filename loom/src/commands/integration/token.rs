//! `loom integration token`.

use std::path::Path;

use loom_api::{Client, request, routes};
use loom_domain::{Code, Error};
use loom_secrets::private_file::{create_private, write_private};
use serde_json::{Value, json};

use crate::cli::parsers;
use crate::commands::common::planned;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Issue or revoke an external gateway's token
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom integration token con_01arz3ndektsv4rrffq69g5fav --out token.txt",
    "loom integration token con_01arz3ndektsv4rrffq69g5fav \\\n      --revoke tok_01arz3ndektsv4rrffq69g5fav"
))]
pub(crate) struct Args {
    /// Connection id
    #[arg(value_name = "CON", value_parser = parsers::connection)]
    connection: String,
    /// Revoke this token instead
    #[arg(long, value_name = "ID", value_parser = parsers::token, conflicts_with = "out")]
    revoke: Option<String>,
    /// New file of mode 0600 for the value
    #[arg(long, value_name = "FILE")]
    out: Option<String>,
}

/// Issues or revokes it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    if cx.globals.dry_run {
        let what =
            if args.revoke.is_some() { "the token would be revoked" } else { "a token would be issued" };
        return planned(cx, what, &[args.connection]);
    }
    let hub = cx.hub()?;
    if let Some(token) = args.revoke {
        hub.delete(routes::connection_token(&args.connection, &token)).run_bytes().await?;
        return if cx.out.is_human() {
            cx.out.line(&format!("revoked {token}"))
        } else {
            cx.out.json(&json!({"id": token, "revoked": true}))
        };
    }
    if args.out.is_none() && !cx.env.stdout_is_terminal {
        return Err(Error::new(
            Code::MissingField,
            "a token is shown on a terminal only; name a file with --out",
        )
        .into());
    }
    let Some(path) = args.out else {
        let [id, value] = issue(&hub, &args.connection).await?;
        cx.out.line(&value)?;
        return cx.out.note(&format!("token {id}; it is shown only once"));
    };
    let file = Path::new(&path);
    // The file is ours before there is a token, so that none is made that nobody can read.
    create_private(file, b"")?;
    let issued = issue(&hub, &args.connection).await;
    if issued.is_err() {
        let _ = std::fs::remove_file(file);
    }
    let [id, value] = issued?;
    if let Err(error) = write_private(file, format!("{value}\n").as_bytes()) {
        hub.delete(routes::connection_token(&args.connection, &id)).run_bytes().await?;
        return Err(error.into());
    }
    if cx.out.is_human() {
        cx.out.line(&format!("issued {id} into {path}"))
    } else {
        cx.out.json(&json!({"id": id, "file": path}))
    }
}

/// Asks for a new token; gives its id and value.
async fn issue(hub: &Client, connection: &str) -> Result<[String; 2], Error> {
    let issued: Value =
        hub.post(routes::connection_tokens(connection)).json(&request::IssueToken::default())?.run().await?;
    Ok(["id", "token"].map(|path| pick::text(&issued, path)))
}
