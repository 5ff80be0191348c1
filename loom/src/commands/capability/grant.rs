//! `loom capability grant`.

use std::collections::BTreeMap;

use loom_api::{request::GiveGrant, routes};
use loom_domain::grant::GrantEffect;
use loom_domain::time::parse_duration_ms;
use loom_domain::{Error, Result};
use serde_json::Value;

use crate::commands::common::planned;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Let an Agent run operations of a capability
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom capability grant docs pr_review --op scan --resource 'repo=acme/*'",
    "loom capability grant docs local/tickets --op comment \\\n    --resource ticket=7 --effect write --expires 7d"
))]
pub(super) struct Args {
    /// Agent, by name or id
    #[arg(value_name = "AGENT")]
    agent: String,
    /// Id of the capability
    #[arg(value_name = "ID")]
    capability: String,
    /// Operation; may be repeated
    #[arg(long, value_name = "OP", required = true)]
    op: Vec<String>,
    /// Object that may be touched, KEY=VALUE; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    resource: Vec<(String, String)>,
    /// Widest effect: read or write [default: read]
    #[arg(long, value_name = "EFFECT")]
    effect: Option<GrantEffect>,
    /// How long it lasts
    #[arg(long, value_name = "D", value_parser = seconds)]
    expires: Option<u64>,
}

fn pair(text: &str) -> Result<(String, String)> {
    let pair = text.split_once('=').filter(|(key, value)| !key.is_empty() && !value.is_empty());
    let (key, value) = pair.ok_or_else(|| Error::invalid("resource", "expected KEY=VALUE"))?;
    Ok((key.to_owned(), value.to_owned()))
}

fn seconds(text: &str) -> Result<u64> {
    Ok(u64::try_from(parse_duration_ms(text)? / 1_000).unwrap_or(0))
}

/// Gives it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    if cx.globals.dry_run {
        return planned(cx, "grant", &[args.agent]);
    }
    let mut resources: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (key, value) in args.resource {
        resources.entry(key).or_default().push(value);
    }
    let body = GiveGrant {
        agent: args.agent,
        capability: args.capability,
        operations: args.op,
        resources,
        effect: args.effect,
        expires_seconds: args.expires,
    };
    let grant: Value = cx.hub()?.post(routes::grants()).json(&body)?.run().await?;
    if !cx.out.is_human() {
        return cx.out.json(&grant);
    }
    cx.out.line(&format!("granted {} to {}", pick::text(&grant, "id"), body.agent))
}
