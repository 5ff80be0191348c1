//! `loom outbox list`.

use loom_api::{query, routes};
use loom_domain::outbox::State;
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::Paging;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, Look, pick};

const LISTING: Listing = Listing {
    columns: &[
        Column::new("ID", |v, _| pick::text(v, "id")),
        Column::new("STATE", |v, _| pick::state(v, "state", "stateReason")),
        Column::new("PROVIDER/CONVERSATION", |v, _| {
            format!(
                "{}/{}",
                pick::text(v, "conversation.provider"),
                pick::text(v, "conversation.conversationId")
            )
        }),
        Column::number("PARTS", |v, _| {
            format!("{}/{}", pick::number(v, "sentParts"), pick::number(v, "totalParts"))
        }),
        Column::number("ATTEMPTS", |v, _| attempts(v).to_string()),
        Column::new("AGE", |v, look| look.time(v, "createdAt")),
        Column::new("EXPIRES", |v, look| look.time(v, "expiresAt")),
        Column::new("TEXT", |v, look| look.text(v, "text")),
    ],
    below,
    empty: "no Outbox items",
};

/// List Outbox items, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom outbox list docs", "loom outbox list --state unknown --json"))]
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
    /// Only failed and expired ones
    #[arg(long)]
    dead: bool,
    /// Only this Address
    #[arg(long, value_name = "ADR", value_parser = parsers::address)]
    address: Option<String>,
    /// Only this Membership
    #[arg(long, value_name = "MEM", value_parser = parsers::membership)]
    membership: Option<String>,
    /// Not older than this
    #[arg(long, value_name = "D", value_parser = parsers::since)]
    since: Option<String>,
    #[command(flatten)]
    paging: Paging,
}

/// Lists them.
pub(super) async fn run(args: Filters, cx: &mut Context<'_, '_>) -> Outcome {
    let query = query::Outbox {
        agent: args.agent,
        state: args.state.map(|state| state.to_string()),
        dead: args.dead.then_some(true),
        address: args.address,
        membership: args.membership,
        since: args.since,
        limit: args.paging.limit,
        cursor: args.paging.cursor,
    };
    let page: Value = cx.hub()?.get(routes::outbox()).query(&query)?.run().await?;
    cx.out.list(&page, &LISTING)
}

fn attempts(item: &Value) -> u64 {
    pick::list(item, "parts").iter().map(tries).sum()
}

/// Tries of a Part: those that failed, and the one that delivered it, is under way, or whose end is unknown.
pub(super) fn tries(part: &Value) -> u64 {
    let is_tried = matches!(pick::text(part, "state").as_str(), "sent" | "sending" | "unknown");
    pick::number(part, "attemptCount") + u64::from(is_tried)
}

fn below(item: &Value, _look: &Look) -> Vec<String> {
    match pick::text(item, "lastError.code") {
        code if code.is_empty() => Vec::new(),
        code => vec![format!("{code}: {}", pick::text(item, "lastError.message"))],
    }
}
