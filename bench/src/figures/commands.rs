//! PB-9: command lines that a person waits for, and reads that need neither a hub nor the network.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::hub::{Hub, program};
use crate::machine::{forget_pages, peak_bytes};
use crate::options::Options;
use crate::quantile::{median, ms};
use crate::report;

const VERSION_MAX: Duration = Duration::from_millis(5);
const LIST_MAX: Duration = Duration::from_millis(15);
/// Above the start of a process.
const READ_MAX: Duration = Duration::from_millis(10);
const READ_PEAK_MAX: u64 = 15 * 1024 * 1024;
const READS: [&[&str]; 3] = [
    &["capability", "list"],
    &["value-connectors", "source-map"],
    &["value-connectors", "github-public-probe", "--url", "https://github.com/owner/repo/issues/123"],
];
/// Command lines take this many times the runs.
const RUNS_FACTOR: usize = 4;

/// Measures them.
pub(crate) async fn measure(options: &Options) -> anyhow::Result<()> {
    let mut hub = Hub::new(0).await?;
    forget_pages(&program()?)?;
    let runs = options.runs * RUNS_FACTOR;
    let nothing = spawned(runs)?;
    let (mut read, mut peak) = (Duration::ZERO, 0);
    for words in READS {
        read = read.max(timed(&hub, words, runs)?.saturating_sub(nothing));
        peak = peak.max(most_memory(&hub, words, runs)?);
    }
    hub.up().await?;
    let version = timed(&hub, &["--version"], runs)?;
    let list = timed(&hub, &["inbox", "list"], runs)?;
    hub.down()?;
    let words = format!(
        "`loom --version` {:.1} ms (< 5), `loom inbox list` {:.1} ms (< 15); the slowest read {:.1} ms (< 10) and the largest {:.1} MiB (< 15); starting `true` takes {:.1} ms",
        ms(version),
        ms(list),
        ms(read),
        mebi(peak),
        ms(nothing)
    );
    let values = json!({
        "runs": runs, "version_ms": ms(version), "inbox_list_ms": ms(list), "process_ms": ms(nothing),
        "read_ms": ms(read), "read_peak_bytes": peak,
    });
    let holds = version < VERSION_MAX && list < LIST_MAX && read < READ_MAX && peak < READ_PEAK_MAX;
    report::figure("pb-9", &words, holds, &values, None);
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

/// Most bytes that the command had resident in any run, looked at without pause while it runs.
fn most_memory(hub: &Hub, words: &[&str], runs: usize) -> anyhow::Result<u64> {
    let mut most = 0;
    for _ in 0..runs {
        let mut command = hub.command()?;
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let process = child.id().to_string();
        while child.try_wait()?.is_none() {
            most = most.max(peak_bytes(&process));
        }
    }
    Ok(most)
}

#[expect(clippy::cast_precision_loss, reason = "mebibytes for people")]
fn mebi(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
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
