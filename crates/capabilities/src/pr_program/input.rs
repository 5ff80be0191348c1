use std::time::Duration;

use loom_domain::{Code, Error, Result, time::parse_duration_ms};
use schemars::JsonSchema;
use serde::Deserialize;

/// Shortest and longest pause between two looks, milliseconds.
const INTERVAL_MS: std::ops::RangeInclusive<i64> = 10_000..=3_600_000;
/// Shortest and longest watch, milliseconds.
const DEADLINE_MS: std::ops::RangeInclusive<i64> = 60_000..=7 * 86_400_000;

/// Input of `observe`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ObserveInput {
    /// Program in YAML or JSON
    #[schemars(length(max = 262_144), extend("x-cli" = "text-file"))]
    pub(super) program: Option<String>,
    /// Pull request, OWNER/REPO#N, instead of a program
    #[serde(default)]
    #[schemars(length(max = 500), inner(length(max = 300)))]
    pub(super) pr: Vec<String>,
    /// Look again until the program is done
    #[serde(default)]
    pub(super) watch: bool,
    /// Pause between two looks, 10s to 1h
    #[serde(default = "interval")]
    #[schemars(length(max = 20))]
    pub(super) interval: String,
    /// Longest watch, 1m to 7d
    #[serde(default = "deadline")]
    #[schemars(length(max = 20))]
    pub(super) deadline: String,
}

/// Pause and length of a watch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) interval: Duration,
    pub(super) deadline: Duration,
}

impl ObserveInput {
    /// The spans of a watch; out of range is a usage error.
    pub(super) fn span(&self) -> Result<Span> {
        Ok(Span {
            interval: within("interval", &self.interval, &INTERVAL_MS, "a time from 10s to 1h")?,
            deadline: within("deadline", &self.deadline, &DEADLINE_MS, "a time from 1m to 7d")?,
        })
    }
}

fn within(name: &str, text: &str, range: &std::ops::RangeInclusive<i64>, expected: &str) -> Result<Duration> {
    let ms =
        parse_duration_ms(text).ok().filter(|ms| range.contains(ms)).and_then(|ms| u64::try_from(ms).ok());
    let wrong = || Error::new(Code::Usage, format!("--{name}: expected {expected}"));
    ms.map(Duration::from_millis).ok_or_else(wrong)
}

fn interval() -> String {
    "30s".to_owned()
}

fn deadline() -> String {
    "2h".to_owned()
}
