//! `loom twin github`.

use std::time::Duration;

use loom_twins::github::{Discussion, GithubTwin, Issue, Repo};
use serde_json::json;

use super::{CONTROL, port_taken, until_stopped};
use crate::context::Context;
use crate::failure::Outcome;

/// The token that the twin takes.
const TOKEN: &str = "ghp_twin_0000000000000000000000000000";
/// Closed pull requests beside the open ones.
const CLOSED: u64 = 20;

/// Serve a simulated GitHub until Ctrl-C
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom twin github --port 8097", "loom twin github --pulls 3000 --latency-ms 50 --json"))]
pub(crate) struct Args {
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Seed of every generated fact
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Open pull requests of acme/tool
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(..=100_000))]
    pulls: u64,
    /// Time that every request takes at least
    #[arg(long, value_name = "MS", default_value_t = 0)]
    latency_ms: u64,
    /// Requests an hour
    #[arg(long, value_name = "N", default_value_t = 5_000)]
    quota: u64,
}

/// Serves it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    // An issue and a discussion stand behind the pull requests.
    let after = args.pulls + CLOSED + 1;
    let tool = Repo::new("acme/tool").open_pulls(args.pulls).closed_pulls(CLOSED);
    let tool = tool.issue(Issue::new(after, 1_000)).discussion(Discussion::new(after + 1));
    let started = GithubTwin::builder()
        .port(args.port)
        .seed(args.seed)
        .repo(tool)
        .token(TOKEN, "ana")
        .latency(Duration::from_millis(args.latency_ms))
        .quota(args.quota)
        .start()
        .await;
    let twin = started.map_err(|error| port_taken(args.port, &error))?;
    let (base, enterprise) = (twin.base_url(), twin.enterprise_url());
    let (issue, discussion) = (after, after + 1);
    if cx.out.is_human() {
        cx.out.fields(&[
            ("base URL", base.clone()),
            ("enterprise base URL", enterprise),
            ("token", TOKEN.to_owned()),
            ("repository", format!("acme/tool, issue {issue}, discussion {discussion}")),
            ("control", format!("{base} {CONTROL}")),
        ])?;
    } else {
        cx.out.json(
            &json!({"baseUrl": base, "enterpriseUrl": enterprise, "token": TOKEN, "repo": "acme/tool",
            "issue": issue, "discussion": discussion}),
        )?;
    }
    until_stopped(cx).await?;
    twin.shutdown().await;
    Ok(())
}
