//! `loom twin lark`.

use loom_twins::lark::{LarkTwin, World};
use serde_json::json;

use super::{CONTROL, port_taken, until_stopped};
use crate::context::Context;
use crate::failure::Outcome;

/// Serve a simulated Feishu / Lark until Ctrl-C
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom twin lark --port 8098", "loom twin lark --json"))]
pub(crate) struct Args {
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
}

/// Serves it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let started = LarkTwin::start(args.port, World::default()).await;
    let twin = started.map_err(|error| port_taken(args.port, &error))?;
    let (base, (app_id, app_secret)) = (twin.base_url(), twin.app());
    if cx.out.is_human() {
        cx.out.fields(&[
            ("base URL", base.clone()),
            ("app", format!("{app_id} {app_secret}")),
            ("control", format!("{base} {CONTROL}")),
        ])?;
    } else {
        cx.out.json(&json!({"baseUrl": base, "appId": app_id, "appSecret": app_secret}))?;
    }
    until_stopped(cx).await?;
    twin.shutdown().await;
    Ok(())
}
