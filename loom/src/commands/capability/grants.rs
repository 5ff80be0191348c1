//! `loom capability grants`.

use loom_api::{query, routes};
use serde_json::Value;

use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, Look, pick};

const LISTING: Listing = Listing {
    columns: &[
        Column::new("ID", |v, _| pick::text(v, "id")),
        Column::new("CAPABILITY", |v, _| pick::text(v, "capability_id")),
        Column::new("OPERATIONS", |v, _| pick::text(v, "operations")),
        Column::new("EFFECT", |v, _| pick::text(v, "effect")),
        Column::new("BY", |v, _| pick::text(v, "granted_by")),
        Column::new("AT", |v, look| look.time(v, "granted_at")),
        Column::new("UNTIL", |v, look| look.time(v, "expires_at")),
    ],
    below,
    empty: "no grants: the Agent may run nothing",
};

/// List what an Agent may run
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom capability grants docs", "loom capability grants docs --json"))]
pub(super) struct Args {
    /// Agent, by name or id
    #[arg(value_name = "AGENT")]
    agent: String,
}

/// Lists them.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let query = query::Grants { agent: Some(args.agent), ..query::Grants::default() };
    let page: Value = cx.hub()?.get(routes::grants()).query(&query)?.run().await?;
    cx.out.list(&page, &LISTING)
}

fn below(grant: &Value, _look: &Look) -> Vec<String> {
    let resources = grant.get("resources").and_then(Value::as_object).into_iter().flatten();
    let all = resources.flat_map(|(key, values)| {
        values
            .as_array()
            .into_iter()
            .flatten()
            .map(move |value| format!("{key}={}", value.as_str().unwrap_or_default()))
    });
    all.collect()
}
