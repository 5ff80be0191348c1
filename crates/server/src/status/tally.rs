//! Counters of runs and requests, filled from what was logged since the server started.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use loom_capabilities::Row;
use loom_domain::Timestamp;
use serde_json::Value;

/// A log line may be written this long after the time it names.
const LATE_MS: i64 = 5_000;

/// Labels of a counter, in order.
pub(super) type Key = [String; 3];

/// What was counted.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    /// Runs by connector, outcome and code.
    pub(super) runs: BTreeMap<Key, u64>,
    /// Requests by provider, operation and outcome.
    pub(super) requests: BTreeMap<Key, u64>,
    /// Seconds and number of requests by provider.
    pub(super) seconds: BTreeMap<String, (f64, u64)>,
}

/// Counts each line once, however often it is read.
#[derive(Debug)]
pub(super) struct Tally(Mutex<(Timestamp, Told)>);

impl Tally {
    /// Starts to count.
    pub(super) fn since(start: Timestamp) -> Self {
        Tally(Mutex::new((start, Told::default())))
    }

    /// The time whose lines are to be read next.
    pub(super) fn window(&self, now: Timestamp) -> (Timestamp, Timestamp) {
        let since = self.0.lock().unwrap_or_else(PoisonError::into_inner).0;
        (since, since.max(now.plus_ms(-LATE_MS)))
    }

    /// Adds the lines of a window, unless another reader has, and gives all that was counted.
    pub(super) fn add(&self, since: Timestamp, until: Timestamp, runs: &[Row], requests: &[Value]) -> Told {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.0 == since {
            counted.0 = until;
            let within = |at: Timestamp| at >= since && at < until;
            runs.iter().filter(|run| within(run.time)).for_each(|run| counted.1.run(run));
            let timed = requests.iter().filter(|line| time_of(line).is_some_and(within));
            timed.for_each(|line| counted.1.request(line));
        }
        counted.1.clone()
    }
}

fn time_of(line: &Value) -> Option<Timestamp> {
    line.get("time")?.as_str()?.parse().ok()
}

impl Told {
    fn run(&mut self, run: &Row) {
        let outcome = if run.ok { "ok" } else { "failed" };
        let code = run.code.map_or("none", |code| code.as_str());
        *self.runs.entry([run.connector_id.clone(), outcome.to_owned(), code.to_owned()]).or_default() += 1;
    }

    fn request(&mut self, line: &Value) {
        let text = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or("none").to_owned();
        let status = line.get("status").and_then(Value::as_u64);
        let outcome = match status {
            Some(status) => format!("{}xx", status / 100),
            None => text("error_code"),
        };
        let provider = text("provider");
        *self.requests.entry([provider.clone(), text("operation"), outcome]).or_default() += 1;
        let ms = line.get("duration_ms").and_then(Value::as_u64).and_then(|ms| u32::try_from(ms).ok());
        let (seconds, count) = self.seconds.entry(provider).or_default();
        *seconds += f64::from(ms.unwrap_or(0)) / 1_000.0;
        *count += 1;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_is_counted_once() {
        let tally = Tally::since(Timestamp(0));
        let line = json!({"time": Timestamp(1_000), "provider": "github", "operation": "probe", "status": 200, "duration_ms": 20});
        let (since, until) = tally.window(Timestamp(10_000));
        let key = ["github".to_owned(), "probe".to_owned(), "2xx".to_owned()];
        assert_eq!(tally.add(since, until, &[], std::slice::from_ref(&line)).requests[&key], 1);
        assert_eq!(tally.add(since, until, &[], std::slice::from_ref(&line)).requests[&key], 1);
        let (since, until) = tally.window(Timestamp(20_000));
        assert_eq!(tally.add(since, until, &[], &[line]).requests[&key], 1);
    }
}
