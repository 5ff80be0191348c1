//! `loom secret list`.

use serde_json::{Value, json};

use super::with_vault;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, pick};

const LISTING: Listing = Listing::new(
    &[
        Column::new("NAME", |v, _| pick::text(v, "name")),
        Column::new("REFERENCE", |v, _| pick::text(v, "ref")),
    ],
    "the vault is empty; store something with `loom secret set NAME`",
);

/// List names in the vault, never a value
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom secret list", "loom secret list --json"))]
pub(crate) struct Args {}

/// Lists them.
pub(super) async fn run(_args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let names = with_vault(cx, |vault| vault.list()).await?;
    let items: Vec<Value> =
        names.iter().map(|name| json!({"name": name, "ref": format!("vault:{name}")})).collect();
    cx.out.list(&json!({"items": items, "nextCursor": null}), &LISTING)
}
