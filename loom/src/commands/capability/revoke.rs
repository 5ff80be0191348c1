//! `loom capability revoke`.

use loom_api::routes;
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::planned;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Take a grant back; the next call is refused
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom capability revoke grt_01arz3ndektsv4rrffq69g5fav",
    "loom capability revoke grt_01arz3ndektsv4rrffq69g5fav --json"
))]
pub(super) struct Args {
    /// Grant id
    #[arg(value_name = "GRANT_ID", value_parser = parsers::grant)]
    grant: String,
}

/// Takes it back.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    if cx.globals.dry_run {
        return planned(cx, "revoke", &[args.grant]);
    }
    let grant: Value = cx.hub()?.post(routes::grant_revoke(&args.grant)).run().await?;
    if !cx.out.is_human() {
        return cx.out.json(&grant);
    }
    cx.out.line(&format!("revoked {}", pick::text(&grant, "id")))
}
