//! PB-9: command lines that a person waits for.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::hub::Hub;
use crate::options::Options;
use crate::quantile::{median, ms};
use crate::report;

const VERSION_MAX: Duration = Duration::from_millis(5);
const LIST_MAX: Duration = Duration::from_millis(15);
/// Command lines take this many times the runs.
const RUNS_FACTOR: usize = 4;

/// Measures both.
pub(crate) async fn measure(options: &Options) -> anyhow::Result<()> {
    let mut hub = Hub::new(0).await?;
    hub.up().await?;
    let runs = options.runs * RUNS_FACTOR;
    let version = timed(&hub, &["--version"], runs)?;
    let list = timed(&hub, &["inbox", "list"], runs)?;
    let nothing = spawned(runs)?;
    hub.down()?;
    let words = format!(
        "`loom --version` {:.1} ms (< 5), `loom inbox list` {:.1} ms (< 15); starting `true` takes {:.1} ms",
        ms(version),
        ms(list),
        ms(nothing)
    );
    let values = json!({
        "runs": runs, "version_ms": ms(version), "inbox_list_ms": ms(list), "process_ms": ms(nothing),
    });
    report::figure("pb-9", &words, version < VERSION_MAX && list < LIST_MAX, &values, None);
    Ok(())
}

fn timed(hub: &Hub, words: &[&str], runs: usize) -> anyhow::Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..runs {
        let mut command = hub.command()?;
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let started = Instant::now();
        let status = command.status()?;
        times.push(started.elapsed());
        anyhow::ensure!(status.success(), "loom {} ended with {status}", words.join(" "));
    }
    Ok(median(&times))
}

/// What the machine takes to start a program that does nothing.
fn spawned(runs: usize) -> anyhow::Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..runs {
        let started = Instant::now();
        Command::new("true").status()?;
        times.push(started.elapsed());
    }
    Ok(median(&times))
}
