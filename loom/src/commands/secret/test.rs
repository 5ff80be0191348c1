//! `loom secret test`.

use loom_domain::{Error, Result};
use loom_secrets::{CredentialRef, Kind, Redactor};
use serde_json::json;

use crate::context::Context;
use crate::credentials;
use crate::failure::Outcome;

/// Try a reference; shows no value
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom secret test vault:slack.docs --kind slack",
    "loom secret test env:WEBHOOK_SECRET --kind webhook"
))]
pub(crate) struct Args {
    /// Reference such as vault:NAME
    #[arg(value_name = "REF", value_parser = CredentialRef::parse)]
    reference: CredentialRef,
    /// What it is for: slack, feishu, parall, github, webhook, git or plain
    #[arg(long, value_name = "K", default_value = "slack", value_parser = kind)]
    kind: Kind,
}

/// Tries it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let resolver = credentials::resolver(&cx.env.home(), &cx.env.variables, Redactor::new())?;
    let fields = resolver.resolve(&args.reference, args.kind).await?;
    let names: Vec<&str> = fields.names().collect();
    let reference = args.reference.to_string();
    if cx.out.is_human() {
        cx.out.line(&format!("{reference} resolves: {}", names.join(", ")))?;
    } else {
        cx.out.json(&json!({"ref": reference, "ok": true, "fields": names}))?;
    }
    match args.reference {
        CredentialRef::Env(_) => cx.out.note("read from this shell's environment; the hub reads its own"),
        _ => Ok(()),
    }
}

fn kind(text: &str) -> Result<Kind> {
    credentials::kind(text).ok_or_else(|| {
        Error::invalid("kind", "expected slack, feishu, parall, github, webhook, git or plain")
    })
}
