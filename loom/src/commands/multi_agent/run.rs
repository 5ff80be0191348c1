//! `loom multi-agent run`.

use loom_api::routes;
use loom_capabilities::{DOCUMENT_BYTES_MAX, read_document};
use loom_domain::{Code, Error};
use serde_json::Value;

use super::print;
use crate::context::Context;
use crate::failure::Outcome;
use crate::input::body::read_limited;
use crate::input::document;
use crate::output::pick;

/// Longest wait that one request asks for, seconds.
const WAIT_SECONDS: u64 = 30;

/// Run a loop, and wait for its end
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Run a loop, and wait for its end\n\nThe hub runs it: lanes work in rounds, each lane-round is one Turn. \
                  Ctrl-C leaves it running; `loom multi-agent stop` stops it. Exit 0 when a lane is done or nothing new \
                  comes, 1 when it failed or its rounds or budget are spent."
)]
#[command(after_help = examples!(
    "loom multi-agent run triage.yaml --dry-run",
    "loom multi-agent run triage.yaml --detach --json"
))]
pub(super) struct Args {
    /// File of the loop, or - for stdin
    #[arg(value_name = "FILE")]
    file: String,
    /// Do not wait for its end
    #[arg(long)]
    detach: bool,
}

/// Runs it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let text = match args.file.as_str() {
        "-" => read_limited(&mut cx.env.stdin.reader, DOCUMENT_BYTES_MAX)?,
        path => document::read_text(path, DOCUMENT_BYTES_MAX)?,
    };
    let file = read_document(&text)?;
    if !file.is_object() {
        return Err(Error::new(Code::InvalidInput, "a loop is one document")
            .with_detail("pointer", "")
            .into());
    }
    let hub = cx.hub()?;
    let dry_run = cx.globals.dry_run;
    let call = hub.post(routes::loops()).dry_run(dry_run);
    let run: Value = call.json(&file)?.run().await?;
    if dry_run {
        return print::plan(&run, cx);
    }
    if args.detach {
        return print::run(&run, cx);
    }
    if cx.out.is_human() {
        cx.out.note(&format!("run {}", pick::text(&run, "run_id")))?;
    }
    let run = followed(run, cx).await?;
    print::run(&run, cx)?;
    print::ended(&run)
}

/// Waits until a run is over.
pub(super) async fn followed(mut run: Value, cx: &Context<'_, '_>) -> Outcome<Value> {
    let hub = cx.hub()?;
    let path = routes::loop_run(&pick::text(&run, "run_id"));
    while pick::text(&run, "state") == "running" {
        run = hub.get(path.clone()).wait(WAIT_SECONDS).run().await?;
    }
    Ok(run)
}
