//! `loom value-connectors test`.

use loom_capabilities::{
    Capability as _, DOCUMENT_BYTES_MAX, NoObserver, Payload, RunRequest, live_request, parse_source_map,
    run_source_map_tests,
};
use loom_domain::{Code, Error, Result};
use serde_json::json;

use crate::commands::run_order::request::named;
use crate::compose::world;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::input::document::read_text;

/// Run the tests of a source map; nothing is sent
///
/// With --live, `probe` is then run once against the real service.
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom value-connectors test weather.yaml --only \"a sunny day\"",
    "loom value-connectors test weather.yaml --live --credential-ref env:KEY"
))]
pub(super) struct Args {
    /// The source map, YAML or JSON
    #[arg(value_name = "FILE")]
    file: String,
    /// One test
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Then run `probe` once against the real service, with the input of its first test that succeeds
    #[arg(long)]
    live: bool,
    /// Credential of the live run, REF or NAME=REF
    #[arg(long, value_name = "REF", requires = "live")]
    credential_ref: Vec<String>,
    /// Base URL of the live run in the place of the map's
    #[arg(long, value_name = "URL", requires = "live")]
    api_url: Option<String>,
}

/// Runs them.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let text = read_text(&args.file, DOCUMENT_BYTES_MAX)?;
    let results = Box::pin(run_source_map_tests(&text, args.only.as_deref())).await?;
    let passed = results.iter().all(|result| result.ok);
    let payload = match args.live && passed {
        true => Some(Box::pin(asked(&text, args, cx)).await?),
        false => None,
    };
    if cx.out.is_human() {
        for result in &results {
            let word = if result.ok { "ok  " } else { "FAIL" };
            cx.out.line(&format!("{word} {}: {}", result.operation, result.name))?;
            result.failures.iter().try_for_each(|why| cx.out.line(&format!("       {why}")))?;
        }
        payload.iter().try_for_each(|payload| cx.out.payload(payload))?;
    } else {
        cx.out.json(&json!({"items": results, "live": payload, "nextCursor": null}))?;
    }
    match payload.and_then(|payload| payload.error) {
        Some(error) => Err(Failure::of(error.code)),
        None if passed => Ok(()),
        None => Err(Failure::of(Code::InvalidInput)),
    }
}

/// Asks the real service once; nothing is kept.
async fn asked(text: &str, args: Args, cx: &mut Context<'_, '_>) -> Result<Payload> {
    let map = parse_source_map(text)?;
    let mut request: RunRequest = live_request(&map).ok_or_else(|| {
        Error::new(Code::InvalidInput, "no test of `probe` that succeeds gives an input for the live run")
            .with_hint("add one to the map")
    })?;
    request.settings.api_url = args.api_url;
    for reference in &args.credential_ref {
        let (name, reference) = named(map.entry(), reference)?;
        request.settings.credential_refs.insert(name, reference);
    }
    let world = world::online(cx.env)?;
    Box::pin(loom_capabilities::run(&world, &map, request, None, &mut NoObserver)).await
}
