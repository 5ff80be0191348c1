//! `loom twin sec`.

use loom_twins::sec::SecTwin;
use serde_json::json;

use super::{CONTROL, port_taken, until_stopped};
use crate::context::Context;
use crate::failure::Outcome;

/// Serve a simulated SEC EDGAR until Ctrl-C
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom twin sec --port 8096", "loom twin sec --json"))]
pub(crate) struct Args {
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Seed of every generated filing and figure
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Serves it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let started = SecTwin::builder().port(args.port).seed(args.seed).start().await;
    let twin = started.map_err(|error| port_taken(args.port, &error))?;
    let base = twin.base_url();
    if cx.out.is_human() {
        cx.out.fields(&[("base URL", base.clone()), ("control", format!("{base} {CONTROL}"))])?;
    } else {
        cx.out.json(&json!({"baseUrl": base}))?;
    }
    until_stopped(cx).await?;
    twin.shutdown().await;
    Ok(())
}
