//! The list of refused Events, or its totals.

use loom_api::{query, routes};
use loom_domain::reason::EventReason;
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::{Paging, items_mut, words};
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, pick};

const LISTING: Listing = Listing::new(
    &[
        Column::new("EVT", |v, _| pick::text(v, "id")),
        Column::new("AT", |v, look| look.time(v, "receivedAt")),
        Column::new("REASON", |v, _| pick::text(v, "reason")),
        Column::new("PROVIDER", |v, _| pick::dash(v, "provider")),
        Column::new("CONVERSATION", |v, _| pick::dash(v, "inbound.conversation.conversationId")),
        Column::new("ACTOR", |v, _| pick::dash(v, "inbound.sender.externalId")),
        Column::new("TEXT", |v, look| {
            Some(look.text(v, "inbound.content.text"))
                .filter(|text| !text.is_empty())
                .unwrap_or_else(|| "—".to_owned())
        }),
    ],
    "nothing was refused",
);

const COUNTS: Listing = Listing::new(
    &[
        Column::new("REASON", |v, _| pick::text(v, "reason")),
        Column::number("COUNT", |v, _| pick::text(v, "count")),
    ],
    "nothing was refused",
);

/// Which refused messages.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct Filters {
    /// Agent name or id
    #[arg(value_parser = parsers::agent)]
    agent: Option<String>,
    /// Only this reason
    #[arg(long, value_name = "CODE")]
    reason: Option<EventReason>,
    /// Only this Address
    #[arg(long, value_name = "ADR", value_parser = parsers::address)]
    address: Option<String>,
    /// Only this Connection
    #[arg(long, value_name = "CON", value_parser = parsers::connection)]
    connection: Option<String>,
    /// Only this conversation
    #[arg(long, value_name = "C")]
    conversation: Option<String>,
    /// Only this sender
    #[arg(long, value_name = "A")]
    actor: Option<String>,
    /// Not older than this
    #[arg(long, value_name = "D", value_parser = parsers::since)]
    since: Option<String>,
    /// Print totals per reason, over all Agents
    #[arg(long, conflicts_with_all = ["agent", "reason", "address", "connection", "conversation", "actor", "since", "limit", "cursor"])]
    counts: bool,
    #[command(flatten)]
    paging: Paging,
}

/// Lists or counts them.
pub(super) async fn run(args: Filters, cx: &mut Context<'_, '_>) -> Outcome {
    let (path, listing) =
        if args.counts { (routes::refusal_counts(), &COUNTS) } else { (routes::refusals(), &LISTING) };
    let query = query::Refusals {
        agent: args.agent,
        reason: args.reason.map(|reason| reason.to_string()),
        address: args.address,
        connection: args.connection,
        conversation: args.conversation,
        actor: args.actor,
        since: args.since,
        limit: args.paging.limit,
        cursor: args.paging.cursor,
    };
    let mut page: Value = cx.hub()?.get(path).query(&query)?.run().await?;
    if cx.out.is_human() && !args.counts {
        add_providers(&mut page, cx).await?;
    }
    cx.out.list(&page, listing)
}

/// An Event names its Connection; people know the provider.
async fn add_providers(page: &mut Value, cx: &Context<'_, '_>) -> Outcome {
    let providers = words(routes::connections(), "provider", cx).await?;
    for event in items_mut(page) {
        if let Some(provider) = providers.get(&pick::text(event, "connectionId")) {
            pick::put(event, "provider", provider);
        }
    }
    Ok(())
}
