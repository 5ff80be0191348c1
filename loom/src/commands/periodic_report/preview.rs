//! `loom periodic-report preview`.

use loom_report::markdown;

use super::ask::{Which, make};
use crate::context::Context;
use crate::failure::Outcome;

/// Show a report and keep nothing of it
#[derive(Debug, Default, clap::Args)]
#[command(after_help = examples!(
    "loom periodic-report preview",
    "loom periodic-report preview --profile daily --json"
))]
pub(super) struct Args {
    #[command(flatten)]
    which: Which,
}

/// Shows it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let mut asked = args.which.request(cx);
    asked.preview = true;
    let made = make(&asked, 0, cx).await?;
    if !cx.out.is_human() {
        return cx.out.json(&made.answer);
    }
    cx.out.document(&markdown(&made.report))
}
