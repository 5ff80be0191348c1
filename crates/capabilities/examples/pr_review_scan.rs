//! Measures `pr_review` over a GitHub twin in this process: wall time, first item, requests, peak memory.
//!
//! `cargo run --release -p loom-capabilities --example pr_review_scan -- [PULLS [LATENCY_MS [DETAIL]]]`; without
//! arguments 3,000 pull requests, 50 ms and `list`.

#![expect(clippy::print_stdout, reason = "it tells what it measured")]

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use loom_capabilities::{Catalog, Flow, Observer, RunRequest, RunSettings, World};
use loom_secrets::Resolver;
use loom_twins::github::{GithubTwin, Repo};
use serde_json::{Value, json};

const TOKEN: &str = "ghp_twin_0000000000000000000000000000";

/// Notes when the first item came.
struct Watch {
    start: Instant,
    first: Option<Duration>,
}

impl Observer for Watch {
    fn item(&mut self, _: &Value) -> Flow {
        let _ = self.first.get_or_insert(self.start.elapsed());
        Flow::Continue
    }
}

/// Peak memory of this process, the twin included, where the system tells it.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown".to_owned(), |line| line.trim().to_owned())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let pulls: u64 = arguments.next().map_or(Ok(3_000), |text| text.parse())?;
    let latency: u64 = arguments.next().map_or(Ok(50), |text| text.parse())?;
    let detail = arguments.next().unwrap_or_else(|| "list".to_owned());
    let twin = GithubTwin::builder()
        .repo(Repo::new("acme/tool").open_pulls(pulls))
        .token(TOKEN, "ana")
        .quota(10_000_000)
        .latency(Duration::from_millis(latency))
        .start()
        .await?;
    let world = World::of_process();
    let find = |name: &str| (name == "GH_ENTERPRISE_TOKEN").then(|| TOKEN.to_owned());
    let resolver = Resolver::new(world.redactor.clone(), Arc::new(find));
    let world = world.with_credentials(resolver, find);
    let settings = RunSettings { api_url: Some(twin.base_url()), ..RunSettings::default() };
    let input = json!({"repo": ["acme/tool"], "detail": detail});
    let request = RunRequest { operation: "scan".to_owned(), input, settings, ..RunRequest::default() };
    let catalog = Catalog::builtin();
    let capability = catalog.capability("pr_review")?;
    let before = peak();
    let mut watch = Watch { start: Instant::now(), first: None };
    let payload = loom_capabilities::run(&world, capability.as_ref(), request, None, &mut watch).await?;
    let (wall, first) = (watch.start.elapsed(), watch.first.unwrap_or_default());
    println!("items {} complete {}", payload.item_count, payload.complete);
    println!("wall {:.2} s, first item after {:.0} ms", wall.as_secs_f64(), first.as_secs_f64() * 1_000.0);
    println!("requests {}, in flight at most {}", payload.effects.requests_sent, twin.in_flight_max());
    println!("peak memory {} before the scan {before}", peak());
    Ok(())
}
