//! `loom multi-agent report`: what the Agent of a lane tells of its round.

use loom_api::routes;
use loom_domain::{Code, Error};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Outcome;
use crate::input::body::Body;

/// Report the result of your lane, as its Agent
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Report the result of your lane, as its Agent\n\nThe words are the result that lanes which read yours see; \
                  without a report it is your final answer. The last report of a round counts."
)]
#[command(after_help = examples!(
    "loom multi-agent report --to reviewer=\"look at #7\" found three candidates",
    "loom multi-agent report --done nothing is left to do"
))]
pub(super) struct Args {
    #[command(flatten)]
    body: Body,
    /// Words to another lane; may be repeated
    #[arg(long, value_name = "LANE=TEXT")]
    to: Vec<String>,
    /// Nothing is left to do in this lane
    #[arg(long)]
    done: bool,
}

/// Sends it; when this ends well, the run holds it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let summary = args.body.read(cx.env)?.unwrap_or_default();
    let mut messages = Vec::new();
    for text in &args.to {
        let (to, text) = text
            .split_once('=')
            .ok_or_else(|| Error::new(Code::Usage, "--to takes LANE=TEXT").with_detail("flag", "--to"))?;
        messages.push(json!({"to": to, "text": text}));
    }
    let report = json!({"summary": summary, "messages": messages, "done": args.done});
    if cx.globals.dry_run {
        return super::super::common::planned(cx, "the report of this lane would be stored", &[]);
    }
    cx.hub()?.post(routes::loop_report()).json(&report)?.run_bytes().await?;
    let stored: Value = json!({"schema_version": "loom.lane_report/v1", "stored": true});
    match cx.out.is_human() {
        true => cx.out.line("stored"),
        false => cx.out.json(&stored),
    }
}
