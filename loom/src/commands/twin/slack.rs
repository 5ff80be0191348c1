//! `loom twin slack`.

use loom_twins::slack::{Config, SlackTwin};
use serde_json::json;

use super::{port_taken, until_stopped};
use crate::context::Context;
use crate::failure::Outcome;

/// Where the world of a twin is read and moved.
const CONTROL: &str = "GET /twin/ledger /twin/requests /twin/counters /twin/world /twin/knobs /twin/faults; \
                       POST /twin/post and other actions, /twin/knobs";

/// Serve a simulated Slack until Ctrl-C
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom twin slack --port 8098", "loom twin slack --json"))]
pub(crate) struct Args {
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Seed of every generated id
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Serves it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let config = Config { port: args.port, seed: args.seed, ..Config::default() };
    let (app, team) = (config.app.clone(), config.team.clone());
    let started = SlackTwin::start(config).await;
    let twin = started.map_err(|error| port_taken(args.port, &error))?;
    let base = twin.base_url();
    if cx.out.is_human() {
        cx.out.fields(&[
            ("base URL", base),
            ("app", app),
            ("team", team),
            ("control", format!("{} {CONTROL}", twin.origin())),
        ])?;
    } else {
        cx.out.json(&json!({"baseUrl": base, "origin": twin.origin(), "app": app, "team": team}))?;
    }
    until_stopped(cx).await?;
    twin.shutdown().await;
    Ok(())
}
