//! `loom twin model`.

use loom_twins::model::ModelTwin;
use serde_json::json;

use super::{port_taken, until_stopped};
use crate::context::Context;
use crate::failure::Outcome;

/// Serve a simulated model until Ctrl-C
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom twin model --port 8099", "loom twin model --json"))]
pub(crate) struct Args {
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
}

/// Serves it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let started = ModelTwin::start(args.port).await;
    let twin = started.map_err(|error| port_taken(args.port, &error))?;
    let (base, v1) = (twin.base_url(), twin.v1_url());
    if cx.out.is_human() {
        cx.out.fields(&[("base URL", base), ("OpenAI base URL", v1)])?;
    } else {
        cx.out.json(&json!({"baseUrl": base, "openaiBaseUrl": v1}))?;
    }
    until_stopped(cx).await?;
    twin.shutdown().await;
    Ok(())
}
