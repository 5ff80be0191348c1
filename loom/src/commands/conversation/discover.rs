//! `loom conversation discover`.

use loom_api::{query, routes};
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::Paging;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, items, pick};

const LISTING: Listing = Listing::new(
    &[
        Column::new("ID", |v, _| pick::text(v, "id")),
        Column::new("CONVERSATION", |v, _| pick::text(v, "conversationId")),
        Column::new("TYPE", |v, _| pick::text(v, "conversationType")),
        Column::new("NAME", |v, _| pick::text(v, "displayName")),
        Column::new("BOT-MEMBER", |v, _| pick::is(v, "botIsMember").to_string()),
        Column::new("LAST-SEEN", |v, look| look.time(v, "lastSeenAt")),
        Column::new("MEMBERSHIP", |v, _| pick::dash(v, "membershipId")),
    ],
    "no Candidates; ask the platform again with --refresh",
);

/// Show what the platform offers; grants nothing
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom conversation discover docs", "loom conversation discover docs --all --refresh"))]
pub(crate) struct Args {
    /// Agent name or id
    #[arg(value_parser = parsers::agent)]
    agent: Option<String>,
    /// Only this Address
    #[arg(long, value_name = "ADR", value_parser = parsers::address)]
    address: Option<String>,
    /// Configured and unavailable ones too
    #[arg(long)]
    all: bool,
    /// Ask the platform for a new list first
    #[arg(long)]
    refresh: bool,
    #[command(flatten)]
    paging: Paging,
}

/// Shows them.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    if args.refresh && !cx.globals.dry_run {
        refresh(args.agent.clone(), args.address.clone(), cx).await?;
    }
    let query = query::Candidates {
        agent: args.agent,
        address: args.address,
        all: args.all.then_some(true),
        limit: args.paging.limit,
        cursor: args.paging.cursor,
    };
    let page: Value = cx.hub()?.get(routes::candidates()).query(&query)?.run().await?;
    cx.out.list(&page, &LISTING)
}

/// Asks for a new snapshot of each Address that is meant.
async fn refresh(agent: Option<String>, address: Option<String>, cx: &mut Context<'_, '_>) -> Outcome {
    let hub = cx.hub()?;
    let addresses = if let Some(address) = address {
        vec![address]
    } else {
        let query = query::Addresses { agent, ..query::Addresses::default() };
        let page: Value = hub.get(routes::addresses()).query(&query)?.run().await?;
        items(&page).iter().map(|address| pick::text(address, "id")).collect()
    };
    for address in addresses {
        hub.post(routes::candidates_refresh(&address)).run::<Value>().await?;
    }
    cx.out.note("asked the platform for a new list; it may take a moment")
}
