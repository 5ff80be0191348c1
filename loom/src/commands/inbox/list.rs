//! `loom inbox list`.

use loom_api::{query, routes};
use loom_domain::inbox::State;
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::Paging;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, Look, pick};

const LISTING: Listing = Listing {
    columns: &[
        Column::new("ID", |v, _| pick::text(v, "item.id")),
        Column::new("STATE", |v, _| pick::state(v, "item.state", "item.stateReason")),
        Column::new("ORIGIN", |v, _| origin(v)),
        Column::new("FROM → AGENT", |v, _| format!("{} → {}", sender(v), pick::text(v, "agentName"))),
        Column::new("CONVERSATION", |v, _| pick::dash(v, "message.conversation.conversationId")),
        Column::new("AGE", |v, look| look.time(v, "item.createdAt")),
        Column::new("TEXT", |v, look| look.text(v, "message.content.text")),
    ],
    below,
    empty: "no Inbox items",
};

/// List Inbox items, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom inbox list docs --open", "loom inbox list --origin slack --since 24h --json"))]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) filters: Filters,
}

/// Which items.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct Filters {
    /// Agent name or id
    #[arg(value_parser = parsers::agent)]
    agent: Option<String>,
    /// Only this state
    #[arg(long, value_name = "S")]
    state: Option<State>,
    /// Only this origin: a provider, loom or owner
    #[arg(long, value_name = "WORD")]
    origin: Option<String>,
    /// Only this Address
    #[arg(long, value_name = "ADR", value_parser = parsers::address)]
    address: Option<String>,
    /// Only this Membership
    #[arg(long, value_name = "MEM", value_parser = parsers::membership)]
    membership: Option<String>,
    /// Only items that are not final
    #[arg(long)]
    open: bool,
    /// Not older than this
    #[arg(long, value_name = "D", value_parser = parsers::since)]
    since: Option<String>,
    #[command(flatten)]
    paging: Paging,
}

/// Lists them.
pub(crate) async fn run(args: Filters, cx: &mut Context<'_, '_>) -> Outcome {
    let query = query::Inbox {
        agent: args.agent,
        state: args.state.map(|state| state.to_string()),
        origin: args.origin,
        address: args.address,
        membership: args.membership,
        open: args.open.then_some(true),
        since: args.since,
        limit: args.paging.limit,
        cursor: args.paging.cursor,
    };
    let page: Value = cx.hub()?.get(routes::inbox()).query(&query)?.run().await?;
    cx.out.list(&page, &LISTING)
}

/// The provider of a platform message, else `loom` or `owner`.
pub(super) fn origin(entry: &Value) -> String {
    match pick::text(entry, "message.provider") {
        provider if provider.is_empty() => pick::text(entry, "message.origin"),
        provider => provider,
    }
}

/// The sender's name with the stable id, or the id alone.
pub(super) fn sender(entry: &Value) -> String {
    let id = pick::dash(entry, "message.sender.externalId");
    match pick::text(entry, "message.sender.displayName") {
        name if name.is_empty() => id,
        name => format!("{name} ({id})"),
    }
}

fn below(entry: &Value, _look: &Look) -> Vec<String> {
    let mut facts = Vec::new();
    for (name, path) in [("outcome", "item.outcome"), ("blocked by", "item.blockedBy"), ("note", "item.note")]
    {
        match pick::text(entry, path) {
            value if value.is_empty() => {}
            value => facts.push(format!("{name} {value}")),
        }
    }
    for reply in pick::list(entry, "outboxItems") {
        facts.push(format!("{} {}", pick::text(reply, "id"), pick::text(reply, "state")));
    }
    if facts.is_empty() { Vec::new() } else { vec![facts.join(" · ")] }
}
