//! What a mock expects of a request.

use std::collections::VecDeque;

use serde_json::Value;

use super::{Answer, Seen};

/// A request that is expected, and its answers.
#[derive(Debug, Clone, Default)]
pub struct Expectation {
    method: String,
    host: Option<String>,
    path: Option<String>,
    query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    json: Option<Value>,
    answers: VecDeque<Answer>,
    last: Option<Answer>,
    times: u32,
    used: u32,
}

impl Expectation {
    /// Expects a method once.
    pub fn new(method: &str) -> Self {
        Expectation { method: method.to_owned(), times: 1, ..Self::default() }
    }

    /// Expects the host.
    pub fn host(mut self, host: &str) -> Self {
        self.host = Some(host.to_owned());
        self
    }

    /// Expects the path.
    pub fn path(mut self, path: &str) -> Self {
        self.path = Some(path.to_owned());
        self
    }

    /// Expects a query parameter among others.
    pub fn query(mut self, name: &str, value: &str) -> Self {
        self.query.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Expects a header among others.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Expects a JSON body that holds at least these members.
    pub fn json(mut self, subset: Value) -> Self {
        self.json = Some(subset);
        self
    }

    /// Adds an answer. Several are given in order; the last one repeats.
    pub fn answer(mut self, answer: Answer) -> Self {
        self.answers.push_back(answer);
        self.times = self.times.max(u32::try_from(self.answers.len()).unwrap_or(u32::MAX));
        self
    }

    /// Expects the request that many times.
    pub fn times(mut self, times: u32) -> Self {
        self.times = times;
        self
    }

    pub(super) fn open(&self) -> bool {
        self.used < self.times
    }

    pub(super) fn next_answer(&mut self) -> Answer {
        self.used += 1;
        if let Some(answer) = self.answers.pop_front() {
            self.last = Some(answer);
        }
        self.last.clone().unwrap_or_else(|| Answer::status(200))
    }

    pub(super) fn unmet(&self) -> Option<String> {
        let text = || format!("expected {} times, seen {}: {}", self.times, self.used, self.name());
        (self.used != self.times).then(text)
    }

    pub(super) fn explain(&self, seen: &Seen) -> String {
        let why = if self.open() { self.mismatches(seen).join(", ") } else { "used up".to_owned() };
        format!("not {} ({why})", self.name())
    }

    /// Everything in which the request differs.
    pub(super) fn mismatches(&self, seen: &Seen) -> Vec<String> {
        let mut wrong = Vec::new();
        let Ok(url) = url::Url::parse(&seen.url) else { return vec!["url".to_owned()] };
        if self.method != seen.method {
            wrong.push(format!("method {}", seen.method));
        }
        if self.host.as_deref().is_some_and(|h| url.host_str() != Some(h)) {
            wrong.push(format!("host {}", url.host_str().unwrap_or_default()));
        }
        if self.path.as_deref().is_some_and(|p| url.path() != p) {
            wrong.push(format!("path {}", url.path()));
        }
        for (name, value) in &self.query {
            if !url.query_pairs().any(|(n, v)| n == *name && v == *value) {
                wrong.push(format!("query {name}"));
            }
        }
        for (name, value) in &self.headers {
            if !seen.headers.get_all(name.as_str()).iter().any(|v| v.as_bytes() == value.as_bytes()) {
                wrong.push(format!("header {name}"));
            }
        }
        if let Some(expected) = &self.json {
            let body = serde_json::from_slice(&seen.body).unwrap_or(Value::Null);
            if !holds(&body, expected) {
                wrong.push(format!("json {body}"));
            }
        }
        wrong
    }

    fn name(&self) -> String {
        let host = self.host.as_deref().unwrap_or("*");
        format!("{} {host}{}", self.method, self.path.as_deref().unwrap_or("/*"))
    }
}

/// Whether the value holds at least the expected members.
fn holds(value: &Value, expected: &Value) -> bool {
    match (value, expected) {
        (Value::Object(value), Value::Object(expected)) => {
            expected.iter().all(|(key, e)| value.get(key).is_some_and(|v| holds(v, e)))
        }
        _ => value == expected,
    }
}
