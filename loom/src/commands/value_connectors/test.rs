//! `loom value-connectors test`.

use loom_capabilities::{DOCUMENT_BYTES_MAX, run_source_map_tests};
use loom_domain::Code;
use serde_json::json;

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::input::document::read_text;

/// Run the tests of a source map; nothing is sent
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom value-connectors test weather.yaml",
    "loom value-connectors test weather.yaml --only \"a sunny day\""
))]
pub(super) struct Args {
    /// The source map, YAML or JSON
    #[arg(value_name = "FILE")]
    file: String,
    /// One test
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

/// Runs them.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let text = read_text(&args.file, DOCUMENT_BYTES_MAX)?;
    let results = Box::pin(run_source_map_tests(&text, args.only.as_deref())).await?;
    if cx.out.is_human() {
        for result in &results {
            let word = if result.ok { "ok  " } else { "FAIL" };
            cx.out.line(&format!("{word} {}: {}", result.operation, result.name))?;
            result.failures.iter().try_for_each(|why| cx.out.line(&format!("       {why}")))?;
        }
    } else {
        cx.out.json(&json!({"items": results, "nextCursor": null}))?;
    }
    if results.iter().all(|result| result.ok) { Ok(()) } else { Err(Failure::of(Code::InvalidInput)) }
}
