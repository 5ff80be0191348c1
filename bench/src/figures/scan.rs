//! PB-15: a scan of 3,000 open pull requests; without a quota, with one, and killed and taken up again.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use loom_twins::github::{Builder, GithubTwin, Repo};
use serde_json::{Value, json};

use crate::hub::program;
use crate::machine::peak_bytes;
use crate::options::Options;
use crate::quantile::ms;
use crate::report;

const PULLS: u64 = 3_000;
/// Pages of 100 that hold them.
const REQUESTS: u32 = 30;
const LATENCY: Duration = Duration::from_millis(50);
const TOKEN: &str = "ghp_bench_000000000000000000000000000";
const WALL_MAX: Duration = Duration::from_secs(10);
const PEAK_MAX: u64 = 100 * 1_000_000;
/// The quota of the second scan: so many requests a window.
const QUOTA: u32 = 6;
const WINDOW: Duration = Duration::from_secs(20);
/// Items after which the third scan is killed.
const KILLED_AFTER: usize = 1_250;

/// Measures all three.
pub(crate) async fn measure(options: &Options) -> anyhow::Result<()> {
    let home = tempfile::tempdir()?;
    let free = twin(options, |twin| twin).await?;
    let whole = scan(home.path(), &free, &[], usize::MAX)?;
    let cut = scan(home.path(), &free, &[], KILLED_AFTER)?;
    let cursor = cut.cursor.clone().context("no cursor before the kill")?;
    let rest = scan(home.path(), &free, &["--cursor", &cursor], usize::MAX)?;
    free.shutdown().await;
    let bounded = twin(options, |twin| twin.quota(QUOTA.into()).quota_window(WINDOW)).await?;
    let waited = scan(home.path(), &bounded, &["--wait-for-reset"], usize::MAX)?;
    bounded.shutdown().await;

    let all: BTreeSet<u64> = (1..=PULLS).collect();
    let union: Vec<u64> = cut.kept.iter().chain(&rest.numbers).copied().collect();
    let is_union_whole = union.len() == all.len() && union.iter().copied().collect::<BTreeSet<_>>() == all;
    let wall_max = WINDOW * REQUESTS / QUOTA * 11 / 10;
    let ok = whole.wall < WALL_MAX
        && whole.peak < PEAK_MAX
        && whole.numbers.len() == all.len()
        && is_union_whole
        && waited.numbers.len() == all.len()
        && waited.wall <= wall_max;
    let words = format!(
        "{PULLS} pull requests in {:.1} s (< 10), the first after {:.0} ms, {:.0} MB at most (< 100); {QUOTA} requests in {} s: {:.1} s (<= {:.1}); \
         killed after {} and resumed: {} items, {}",
        whole.wall.as_secs_f64(),
        ms(whole.first),
        mega(whole.peak),
        WINDOW.as_secs(),
        waited.wall.as_secs_f64(),
        wall_max.as_secs_f64(),
        cut.kept.len(),
        union.len(),
        if is_union_whole { "each once" } else { "NOT each once" },
    );
    let values = json!({
        "pulls": PULLS, "seed": options.seed, "wall_ms": ms(whole.wall), "first_item_ms": ms(whole.first), "peak_bytes": whole.peak,
        "quota_wall_ms": ms(waited.wall), "quota_bound_ms": ms(wall_max), "kept_before_kill": cut.kept.len(), "union": union.len(),
    });
    report::figure("pb-15", &words, ok, &values, None);
    Ok(())
}

async fn twin(options: &Options, change: impl FnOnce(Builder) -> Builder) -> anyhow::Result<GithubTwin> {
    let repo = Repo::new("acme/tool").open_pulls(PULLS);
    let builder = GithubTwin::builder().seed(options.seed).repo(repo).token(TOKEN, "ana").latency(LATENCY);
    Ok(change(builder).start().await?)
}

/// What one scan gave.
struct Scan {
    wall: Duration,
    first: Duration,
    peak: u64,
    numbers: Vec<u64>,
    /// Of these, those before the last cursor: what a reader that resumes has.
    kept: Vec<u64>,
    cursor: Option<String>,
}

/// Runs the program and reads its lines as they come; kills it behind `items_max` items.
fn scan(home: &Path, twin: &GithubTwin, more: &[&str], items_max: usize) -> anyhow::Result<Scan> {
    let settings = format!("[transport]\nproxy = \"none\"\nlocal_origins = [\"{}\"]\n", twin.base_url());
    std::fs::write(home.join("loom.toml"), settings)?;
    let mut command = Command::new(program()?);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", home).env("LOOM_HOME", home);
    command.env("GH_ENTERPRISE_TOKEN", TOKEN).args(["capability", "run", "pr_review", "--repo", "acme/tool"]);
    command.args(["--filter", "open", "--output", "ndjson", "--api-url", &twin.base_url()]).args(more);
    let started = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let lines = BufReader::new(child.stdout.take().context("no output")?).lines();
    let mut scan = Scan {
        wall: Duration::ZERO,
        first: Duration::ZERO,
        peak: 0,
        numbers: Vec::new(),
        kept: Vec::new(),
        cursor: None,
    };
    let mut ended = Value::Null;
    for line in lines {
        let line: Value = serde_json::from_str(&line?)?;
        match line.get("type").and_then(Value::as_str) {
            Some("item") => {
                if scan.numbers.is_empty() {
                    scan.first = started.elapsed();
                }
                scan.numbers.extend(line.pointer("/item/number").and_then(Value::as_u64));
            }
            Some("checkpoint") => {
                scan.cursor = line.get("cursor").and_then(Value::as_str).map(str::to_owned);
                scan.kept.clone_from(&scan.numbers);
                scan.peak = scan.peak.max(peak_bytes(&child.id().to_string()));
            }
            Some("end") => {
                scan.peak = scan.peak.max(peak_bytes(&child.id().to_string()));
                ended = line;
            }
            _ => {}
        }
        if scan.numbers.len() >= items_max {
            child.kill()?;
            break;
        }
    }
    let status = child.wait()?;
    scan.wall = started.elapsed();
    anyhow::ensure!(status.success() || items_max < usize::MAX, "the scan ended with {status}: {ended}");
    Ok(scan)
}

#[expect(clippy::cast_precision_loss, reason = "megabytes for people")]
fn mega(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
