//! Measures the redactor on one core: mixed JSON and text, 1,000 registered values, all patterns.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::time::Instant;

use loom_secrets::{Profile, RedactWriter, Redactor, Secret};

const VALUES: u64 = 1_000;
const SAMPLE_BYTES: usize = 16 * 1024 * 1024;
const ROUNDS: usize = 64;
const CHUNK_BYTES: usize = 64 * 1024;

fn main() -> io::Result<()> {
    let redactor = Redactor::new();
    for n in 0..VALUES {
        redactor.register(&Secret::new(value(n)));
    }
    let sample = sample();
    let started = Instant::now();
    let mut writer = RedactWriter::new(io::sink(), &redactor, Profile::Store);
    for _ in 0..ROUNDS {
        for chunk in sample.as_bytes().chunks(CHUNK_BYTES) {
            writer.write_all(chunk)?;
        }
    }
    let (_, report) = writer.finish()?;
    let seconds = started.elapsed().as_secs_f64();
    let megabytes = u32::try_from(sample.len() / 1_000_000 * ROUNDS).map_or(0.0, f64::from);
    let hits: u64 = report.counts().map(|(_, count)| count).sum();
    writeln!(io::stdout(), "{:.0} MB/s, {hits} hits in {megabytes:.0} MB", megabytes / seconds)
}

/// A value of 40 letters and digits.
fn value(n: u64) -> String {
    let mut state = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % 62).unwrap_or_default()
    };
    (0..40).filter_map(|_| alphabet.chars().nth(next())).collect()
}

/// JSON log lines, prose, an encoded image now and then, and a hit every few kilobytes.
fn sample() -> String {
    let mut text = String::new();
    let mut n = 0;
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
        if n % 16 == 0 {
            let _ = writeln!(text, "image {}{}{}", value(n + 7_000), value(n + 8_000), value(n + 9_000));
        }
        if n % 32 == 0 {
            let _ = writeln!(text, "value {} token=abcdefgh{n} mail a@example.org", value(n % VALUES));
        }
    }
    text
}
