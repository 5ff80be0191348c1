//! `loom conversation list`.

use loom_api::{query, routes};
use loom_domain::ConversationType;
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::Paging;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, pick};

const LISTING: Listing = Listing::new(
    &[
        Column::new("ID", |v, _| pick::text(v, "id")),
        Column::new("CONVERSATION", |v, _| pick::text(v, "conversationId")),
        Column::new("TYPE", |v, _| pick::text(v, "conversationType")),
        Column::new("ACTOR", |v, _| pick::dash(v, "actorId")),
        Column::new("NAME", |v, _| pick::text(v, "displayName")),
        Column::new("STATE", |v, _| state(v).to_owned()),
        Column::number("VERSION", |v, _| format!("v{}", pick::text(v, "version"))),
        Column::new("ADDRESS", |v, _| pick::text(v, "addressId")),
        Column::new("TRIGGER", |v, _| pick::dash(v, "triggerPolicy")),
        Column::new("REPLY", |v, _| pick::dash(v, "replyPolicy")),
        Column::new("OUTBOUND", |v, _| pick::text(v, "outboundPolicy")),
        Column::new("APPROVED-BY", |v, _| pick::dash(v, "enabledBy")),
        Column::new("APPROVED-AT", |v, look| look.time(v, "firstEnabledAt")),
    ],
    "no Memberships; see `loom conversation discover`",
);

/// List Memberships; --type dm lists senders
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom conversation list docs", "loom conversation list --type dm --enabled true"))]
pub(crate) struct Args {
    /// Agent name or id
    #[arg(value_parser = parsers::agent)]
    agent: Option<String>,
    /// Only this Address
    #[arg(long, value_name = "ADR", value_parser = parsers::address)]
    address: Option<String>,
    /// Only this type: group, channel, `group_dm` or dm
    #[arg(long = "type", value_name = "T")]
    kind: Option<ConversationType>,
    /// Only enabled or disabled ones: true or false
    #[arg(long, value_name = "B")]
    enabled: Option<bool>,
    /// Only those with messages that wait for approval
    #[arg(long)]
    pending: bool,
    #[command(flatten)]
    paging: Paging,
}

/// Lists them.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let query = query::Memberships {
        agent: args.agent,
        address: args.address,
        kind: args.kind.map(|kind| kind.to_string()),
        enabled: args.enabled,
        pending: args.pending.then_some(true),
        archived: None,
        limit: args.paging.limit,
        cursor: args.paging.cursor,
    };
    let page: Value = cx.hub()?.get(routes::memberships()).query(&query)?.run().await?;
    cx.out.list(&page, &LISTING)
}

fn state(membership: &Value) -> &'static str {
    match pick::value(membership, "archivedAt") {
        Some(_) => "archived",
        None if pick::is(membership, "enabled") => "enabled",
        None => "disabled",
    }
}
