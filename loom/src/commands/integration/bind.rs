//! `loom integration bind`.

use loom_api::{request, routes};
use serde_json::Value;

use super::policy_flags::PolicyFlags;
use crate::cli::parsers;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Bind an external identity to an Agent
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom integration bind docs con_01arz3ndektsv4rrffq69g5fav --identity U0BOT",
    "loom integration bind docs con_01arz3ndektsv4rrffq69g5fav \\\n      --identity slack://T0123/U0BOT --trigger mention --enabled true"
))]
pub(crate) struct Args {
    /// Agent name or id
    #[arg(value_parser = parsers::agent)]
    agent: String,
    /// Connection id
    #[arg(value_name = "CONNECTION_ID", value_parser = parsers::connection)]
    connection: String,
    /// Identity at the provider
    #[arg(long, value_name = "ID")]
    identity: String,
    #[command(flatten)]
    policy: PolicyFlags,
}

/// Binds it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let body = request::Bind {
        connection_id: args.connection,
        external_identity: args.identity,
        policy: args.policy.into_policy(),
    };
    let hub = cx.hub()?;
    let call = hub.post(routes::agent_addresses(&args.agent)).dry_run(cx.globals.dry_run);
    let done: Value = call.json(&body)?.run().await?;
    let [id, identity] = ["object.id", "object.externalIdentity"].map(|path| pick::text(&done, path));
    let state = if pick::is(&done, "object.enabled") { "enabled" } else { "disabled" };
    cx.out.mutation_as(&done, &format!("bound {identity} → {} {id} ({state})", args.agent))
}
