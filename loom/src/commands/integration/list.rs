//! `loom integration list`.

use loom_api::{query, routes};
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::{Paging, items_mut, words};
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, Look, pick};

const LISTING: Listing = Listing {
    columns: &[
        Column::new("ID", |v, _| pick::text(v, "id")),
        Column::new("PROVIDER", |v, _| pick::text(v, "provider")),
        Column::new("STATE", |v, _| pick::state(v, "state", "reason")),
        Column::new("ACCOUNT/SCOPE", |v, _| {
            format!("{}/{}", pick::text(v, "accountRef"), pick::dash(v, "scopeRef"))
        }),
        Column::new("GATEWAY", |v, _| pick::text(v, "gatewayMode")),
        Column::new("ALIVE", |v, look| look.time(v, "health.provedAliveAt")),
        Column::number("PENDING", |v, _| pick::number(v, "health.pending").to_string()),
        Column::new("LASTERROR", |v, _| pick::dash(v, "lastError.code")),
    ],
    below: addresses,
    empty: "no Connections; register one with `loom integration connect`",
};

/// Lists of an Address that are shown when they hold something.
const LISTS: &[&str] =
    &["allowActors", "allowConversations", "blockActors", "blockConversations", "allowBots"];

/// List Connections, each with its Addresses
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom integration list", "loom integration list --agent docs --json"))]
pub(crate) struct Args {
    /// Only this provider
    #[arg(long, value_name = "P")]
    provider: Option<String>,
    /// Only Connections with an Address of this Agent
    #[arg(long, value_name = "A", value_parser = parsers::agent)]
    agent: Option<String>,
    /// Archived ones too
    #[arg(long)]
    archived: bool,
    #[command(flatten)]
    paging: Paging,
}

/// Lists them.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let query = query::Connections {
        provider: args.provider,
        agent: args.agent,
        archived: args.archived.then_some(true),
        limit: args.paging.limit,
        cursor: args.paging.cursor,
    };
    let mut page: Value = cx.hub()?.get(routes::connections()).query(&query)?.run().await?;
    if cx.out.is_human() {
        add_agents(&mut page, cx).await?;
    }
    cx.out.list(&page, &LISTING)
}

/// An Address names its Agent's id; people know the name.
async fn add_agents(page: &mut Value, cx: &Context<'_, '_>) -> Outcome {
    let names = words(routes::agents(), "name", cx).await?;
    for connection in items_mut(page) {
        let addresses = connection.get_mut("addresses").and_then(Value::as_array_mut);
        for address in addresses.into_iter().flatten() {
            if let Some(name) = names.get(&pick::text(address, "agentId")) {
                pick::put(address, "agentName", name);
            }
        }
    }
    Ok(())
}

fn addresses(connection: &Value, _look: &Look) -> Vec<String> {
    pick::list(connection, "addresses").iter().flat_map(address).collect()
}

fn address(address: &Value) -> Vec<String> {
    let text = |path: &str| pick::text(address, path);
    let present = |path: &str| pick::value(address, path).is_some();
    let state = match () {
        () if present("deletedAt") => "deleted",
        () if present("archivedAt") => "archived",
        () if pick::is(address, "enabled") => "enabled",
        () => "disabled",
    };
    let successor =
        if present("supersededBy") { format!(" → {}", text("supersededBy")) } else { String::new() };
    let agent = if present("agentName") { text("agentName") } else { text("agentId") };
    let mut lines = vec![format!(
        "{} {} → {agent} {state} v{} trigger={} reply={} dm={} trust={}{successor}",
        text("id"),
        text("externalIdentity"),
        text("version"),
        text("triggerPolicy"),
        text("replyPolicy"),
        text("dmPolicy"),
        text("trustDomain"),
    )];
    lines.extend(
        LISTS.iter().filter(|list| !text(list).is_empty()).map(|list| format!("  {list}: {}", text(list))),
    );
    lines
}
