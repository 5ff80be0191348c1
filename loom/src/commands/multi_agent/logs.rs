//! `loom multi-agent logs`.

use std::time::Duration;

use loom_api::routes;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Format, pick};

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(500);

/// Print what a run did, row by row
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom multi-agent logs op_01arz3ndektsv4rrffq69g5fav --lane scout",
    "loom multi-agent logs op_01arz3ndektsv4rrffq69g5fav --follow --format ndjson"
))]
pub(super) struct Args {
    /// Run
    #[arg(value_name = "RUN")]
    run: String,
    /// Only this lane
    #[arg(long, value_name = "LANE")]
    lane: Option<String>,
    /// Go on until the run is over, or Ctrl-C
    #[arg(long)]
    follow: bool,
}

/// Prints them; Ctrl-C is a usual end.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    tokio::select! {
        outcome = Box::pin(print(args, cx)) => outcome,
        _ = tokio::signal::ctrl_c() => Ok(()),
    }
}

async fn print(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let hub = cx.hub()?;
    let (mut since, mut all) = (0, Vec::new());
    loop {
        // Asked before the rows: what ends in between still has its last row read.
        let run: Value = hub.get(routes::loop_run(&args.run)).run().await?;
        let query = json!({"since": since, "lane": args.lane});
        let mut log: Value = hub.get(routes::loop_log(&args.run)).query(&query)?.run().await?;
        let rows = pick::list(&log, "items");
        let next = pick::text(&log, "nextCursor").parse::<u64>().ok();
        let is_document = cx.globals.format() == Format::Json && !args.follow;
        for row in rows {
            if is_document {
                all.push(row.clone());
            } else {
                line(row, cx)?;
            }
            since = pick::value(row, "seq").and_then(Value::as_u64).map_or(since, |seq| seq + 1);
        }
        cx.out.flush()?;
        if let Some(next) = next {
            since = next;
            continue;
        }
        if is_document {
            pick::put(&mut log, "items", &Value::Array(all));
            return cx.out.json(&log);
        }
        if !args.follow || (pick::text(&run, "state") != "running" && rows.is_empty()) {
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn line(row: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    if !cx.out.is_human() {
        return cx.out.typed(row);
    }
    let text = |path: &str| pick::text(row, path);
    let lane = match text("lane").as_str() {
        "" => String::new(),
        lane => format!("{lane} round {} ", text("round")),
    };
    let more = [text("end"), text("reason"), text("report.summary")];
    let more = more.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ");
    let first: String = more.lines().next().unwrap_or_default().chars().take(100).collect();
    cx.out.line(&format!("{}  {:<13} {lane}{first}", text("at"), text("kind")))
}
