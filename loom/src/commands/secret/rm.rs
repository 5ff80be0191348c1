//! `loom secret rm`.

use loom_domain::Error;
use serde_json::json;

use super::{entry_name, with_vault};
use crate::context::Context;
use crate::failure::Outcome;

/// Remove a secret from the vault
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom secret rm slack.docs --yes", "loom secret rm slack.docs --dry-run"))]
pub(crate) struct Args {
    /// Name of the entry
    #[arg(value_parser = entry_name)]
    name: String,
}

/// Removes it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let name = args.name.clone();
    if !with_vault(cx, move |vault| Ok(vault.list()?.contains(&name))).await? {
        return Err(Error::not_found("vault entry", &args.name).with_hint("loom secret list").into());
    }
    let reference = format!("vault:{}", args.name);
    cx.confirmed(&format!("remove {reference}; what refers to it stops to work"))?;
    let (name, dry_run) = (args.name.clone(), cx.globals.dry_run);
    if !dry_run {
        with_vault(cx, move |vault| vault.remove(&name)).await?;
    }
    let done = json!({
        "object": {"name": args.name, "ref": reference}, "created": false, "changed": ["value"],
        "warnings": [], "operationId": null, "dryRun": dry_run,
    });
    cx.out.mutation_as(&done, &format!("removed {reference}"))
}
