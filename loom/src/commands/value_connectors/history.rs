//! `loom value-connectors history`.

mod prune;

use clap::Subcommand;
use loom_capabilities::{HistoryFilter, differences, fold_id};
use loom_domain::time::parse_duration_ms;
use loom_domain::{Result, Timestamp};
use serde_json::{Value, json};

use crate::cli::parsers;
use crate::compose::world;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, pick};

const LISTING: Listing = Listing::new(
    &[
        Column::new("TIME", |v, look| look.time(v, "time")),
        Column::new("CONNECTOR", |v, _| pick::text(v, "connector_id")),
        Column::new("OPERATION", |v, _| pick::text(v, "operation")),
        Column::new(
            "OUTCOME",
            |v, _| if pick::is(v, "ok") { "ok".to_owned() } else { pick::dash(v, "code") },
        ),
        Column::number("ITEMS", |v, _| pick::text(v, "item_count")),
        Column::number("MS", |v, _| pick::text(v, "duration_ms")),
        Column::new("PAYLOAD", |v, look| {
            let id = pick::text(v, "payload_id");
            if look.wide { id } else { id.chars().take(23).collect() }
        }),
    ],
    "nothing was run, or nothing was kept",
);

/// What was run, newest first
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = examples!(
    "loom value-connectors history --connector github_public_probe --failed",
    "loom value-connectors history --diff 1f0e4c7a9b2d 77ab01c2d3e4"
))]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Only this connector
    #[arg(long, value_name = "ID")]
    connector: Option<String>,
    /// Only this operation
    #[arg(long, value_name = "OP")]
    op: Option<String>,
    /// Only this Turn
    #[arg(long, value_name = "TRN")]
    turn: Option<String>,
    /// Not before this time, or not longer ago
    #[arg(long, value_name = "T", value_parser = parsers::since)]
    since: Option<String>,
    /// Only what came to its end
    #[arg(long, conflicts_with = "failed")]
    ok: bool,
    /// Only what failed
    #[arg(long)]
    failed: bool,
    /// Most rows, 1 to 1000
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    limit: u16,
    /// Show what differs between two payloads
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    diff: Option<Vec<String>>,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    Prune(prune::Args),
}

/// Lists it.
pub(super) fn run(args: &Args, cx: &mut Context<'_, '_>) -> Outcome {
    if let Some(Command::Prune(prune)) = &args.command {
        return prune::run(prune, cx);
    }
    let store = world::payloads(cx.env);
    if let Some([a, b]) = args.diff.as_deref() {
        let (a, b) = (store.show(a)?, store.show(b)?);
        return print_differences(&a, &b, cx);
    }
    let filter = HistoryFilter {
        connector: args.connector.as_deref().map(fold_id).transpose()?,
        operation: args.op.as_deref().map(|op| op.replace('-', "_")),
        turn: args.turn.clone(),
        since: args.since.as_deref().map(|text| time_of(text, cx.env.now)).transpose()?,
        ok: (args.ok || args.failed).then_some(args.ok),
        limit: usize::from(args.limit),
    };
    let rows = store.history(&filter)?;
    cx.out.list(&json!({"schema_version": "loom.history/v1", "items": rows, "nextCursor": null}), &LISTING)
}

/// A time, or one that long ago.
pub(super) fn time_of(text: &str, now: Timestamp) -> Result<Timestamp> {
    match text.parse() {
        Ok(time) => Ok(time),
        Err(_) => Ok(now.plus_ms(-parse_duration_ms(text)?)),
    }
}

fn print_differences(a: &Value, b: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    let found = differences(a, b);
    if !cx.out.is_human() {
        let document = json!({
            "schema_version": "loom.payload_diff/v1", "a": a.get("payload_id"), "b": b.get("payload_id"), "differences": found,
        });
        return cx.out.json(&document);
    }
    if found.is_empty() {
        return cx.out.line("no field differs");
    }
    found.iter().try_for_each(|one| cx.out.line(&format!("{}  {} -> {}", one.pointer, one.a, one.b)))
}
