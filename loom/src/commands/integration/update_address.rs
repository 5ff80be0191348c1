//! `loom integration update-address`.

use loom_api::{request, routes};
use loom_domain::{Code, Error};
use serde_json::Value;

use super::policy_flags::PolicyFlags;
use crate::cli::parsers;
use crate::commands::common::{Version, cleared};
use crate::context::Context;
use crate::failure::Outcome;

const CLEARABLE: &[(&str, &str)] = &[
    ("allow-actors", "allowActors"),
    ("allow-conversations", "allowConversations"),
    ("block-actors", "blockActors"),
    ("block-conversations", "blockConversations"),
    ("allow-bots", "allowBots"),
];

/// Change an Address; only the given fields
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom integration update-address adr_01arz3ndektsv4rrffq69g5fav \\\n      --dm-policy closed",
    "loom integration update-address adr_01arz3ndektsv4rrffq69g5fav \\\n      --clear block-actors --expected-version 4"
))]
pub(crate) struct Args {
    /// Address id
    #[arg(value_name = "ADR", value_parser = parsers::address)]
    address: String,
    #[command(flatten)]
    policy: PolicyFlags,
    /// Empty a list; may be repeated
    #[arg(long, value_name = "LIST", value_parser = ["allow-actors", "allow-conversations", "block-actors", "block-conversations", "allow-bots"])]
    clear: Vec<String>,
    /// The change of trust domain is meant
    #[arg(long)]
    confirm_trust: bool,
    #[command(flatten)]
    version: Version,
}

/// Changes it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let body = request::UpdateAddress {
        clear: cleared(&args.clear, CLEARABLE),
        confirm_trust: false,
        expected_version: None,
        policy: args.policy.into_policy(),
    };
    if body == request::UpdateAddress::default() {
        return Err(Error::new(Code::NothingToChange, "no field is named").into());
    }
    let (confirm_trust, expected_version) = (args.confirm_trust, args.version.expected_version);
    let body = request::UpdateAddress { confirm_trust, expected_version, ..body };
    let hub = cx.hub()?;
    let call = hub.patch(routes::address(&args.address)).dry_run(cx.globals.dry_run);
    let done: Value = call.json(&body)?.run().await?;
    cx.out.mutation(&done)
}
