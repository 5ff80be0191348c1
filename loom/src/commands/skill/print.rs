//! `loom skill print`.

use clap::ValueEnum;
use serde_json::json;

use crate::context::Context;
use crate::failure::Outcome;

/// The operator guide.
pub(crate) const GUIDE: &str = include_str!("loom-integrations.md");

/// The guides.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Guide {
    /// Messaging: layers, steps and every command line.
    LoomIntegrations,
}

/// Print a guide
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom skill print loom-integrations", "loom skill print loom-integrations --json"))]
pub(crate) struct Args {
    /// Guide
    guide: Guide,
}

/// Prints it.
pub(super) fn run(args: &Args, cx: &mut Context<'_, '_>) -> Outcome {
    let Guide::LoomIntegrations = args.guide;
    if cx.out.is_human() {
        cx.out.document(GUIDE)
    } else {
        cx.out.json(&json!({"name": "loom-integrations", "text": GUIDE}))
    }
}
