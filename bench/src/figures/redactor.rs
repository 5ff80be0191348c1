//! PB-14: the redactor on one core.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use loom_secrets::{Profile, RedactWriter, Redactor, Secret};
use serde_json::json;

use crate::machine::user_time;
use crate::options::Options;
use crate::quantile::{count, median};
use crate::report;

const VALUES: u64 = 1_000;
const SAMPLE_BYTES: usize = 16 * 1024 * 1024;
/// Times that the sample is read in one run.
const ROUNDS: usize = 16;
/// No divisor of what the writer works on, so that hits lie across borders.
const CHUNK_BYTES: usize = 61_441;
const RATE_MIN: f64 = 500.0;

/// Measures processor time and the clock, and counts the hits.
pub(crate) fn measure(options: &Options) -> anyhow::Result<()> {
    let redactor = Redactor::new();
    for n in 0..VALUES {
        redactor.register(&Secret::new(value(options.seed + n)));
    }
    let (text, planted) = sample(options.seed);
    let (mut busy, mut clock, mut found) = (Vec::new(), Vec::new(), 0);
    for _ in 0..options.runs {
        let (user, started) = (user_time(), Instant::now());
        found = run(&redactor, &text)?;
        clock.push(started.elapsed());
        busy.push(user_time().saturating_sub(user));
    }
    let wanted = planted * u64::try_from(ROUNDS)?;
    let (of_core, of_clock) = (rate(&text, &busy), rate(&text, &clock));
    let words = format!(
        "redactor {of_core:.0} MB a processor second, {of_clock:.0} MB/s by the clock (>= {RATE_MIN:.0}); {found} of {wanted} hits"
    );
    let values = json!({
        "mb_per_processor_second": of_core, "mb_per_second": of_clock, "values": VALUES, "seed": options.seed,
        "hits": found, "planted": wanted, "runs": options.runs,
    });
    report::figure("pb-14", &words, of_core >= RATE_MIN && found == wanted, &values, None);
    Ok(())
}

fn rate(text: &str, spans: &[Duration]) -> f64 {
    count(text.len()) * count(ROUNDS) / 1e6 / median(spans).as_secs_f64()
}

fn run(redactor: &Redactor, text: &str) -> anyhow::Result<u64> {
    let mut writer = RedactWriter::new(io::sink(), redactor, Profile::Store);
    for _ in 0..ROUNDS {
        for chunk in text.as_bytes().chunks(CHUNK_BYTES) {
            writer.write_all(chunk)?;
        }
    }
    let (_, report) = writer.finish()?;
    Ok(report.counts().map(|(_, count)| count).sum())
}

/// A value of 40 letters and digits.
fn value(n: u64) -> String {
    let mut state = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let alphabet: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').collect();
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % 62).unwrap_or_default()
    };
    (0..40).filter_map(|_| alphabet.get(next())).collect()
}

/// JSON log lines, prose, and two secrets every few kilobytes; also how many.
fn sample(seed: u64) -> (String, u64) {
    let (mut text, mut n, mut planted) = (String::new(), 0, 0);
    while text.len() < SAMPLE_BYTES {
        n += 1;
        let _ = writeln!(
            text,
            r#"{{"time":"2026-01-02T03:04:05.{:03}Z","level":"info","connection":"con_01j{n:023x}","url":"https://api.example.org/v1/messages?cursor={n}","status":200,"content-type":"application/json","duration_ms":{}}}"#,
            n % 1_000,
            n % 97
        );
        text.push_str(
            "The connector read a page of messages and stored them before it acknowledged the event.\n",
        );
        text.push_str(
            "Each message keeps its order, its thread and its author; edits arrive as facts of their own.\n",
        );
        if n % 32 == 0 {
            let _ = writeln!(text, "value {} token=abcdefgh{n}", value(seed + n % VALUES));
            planted += 2;
        }
    }
    (text, planted)
}
