//! `loom where`.

use loom_api::{query, routes};
use serde_json::Value;

use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, pick};

const STEPS: &[Column] = &[
    Column::new("AT", |v, look| look.time(v, "at")),
    Column::new("LAYER", |v, _| pick::text(v, "layer")),
    Column::new("ID", |v, _| pick::dash(v, "id")),
    Column::new("WHAT", |v, look| look.text(v, "text")),
    Column::new("CODE", |v, _| pick::dash(v, "code")),
];

/// Show the whole path of a message
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom where inb_01arz3ndektsv4rrffq69g5fav",
    "loom where https://example.slack.com/archives/C0123/p1700000000000100"
))]
pub(crate) struct Args {
    /// Any Loom id, permalink or provider id
    #[arg(value_name = "ID|PERMALINK|PROVIDER_ID")]
    what: String,
}

/// Shows it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let query = query::Where { q: Some(args.what), ..query::Where::default() };
    let found: Value = cx.hub()?.get(routes::where_is()).query(&query)?.run().await?;
    if !cx.out.is_human() {
        return cx.out.json(&found);
    }
    let wide = cx.out.look().wide;
    let steps = pick::list(&found, "steps").iter().filter(|step| wide || !is_inner(step));
    cx.out.table(STEPS, &steps.cloned().collect::<Vec<_>>(), |_, _| Vec::new())?;
    let verdict = match pick::text(&found, "reason") {
        reason if reason.is_empty() => pick::text(&found, "verdict"),
        reason => format!("{}:{reason}", pick::text(&found, "verdict")),
    };
    cx.out.heading(&verdict)
}

/// Whether it is a step on the way to a decision; the step that decides carries the reason's code.
fn is_inner(step: &Value) -> bool {
    pick::text(step, "layer") == "decision" && pick::value(step, "code").is_none()
}
