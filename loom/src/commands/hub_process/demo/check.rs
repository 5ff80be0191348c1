//! Assertions of the demo: what happened, and the rule it shows.

use serde_json::{Value, json};

#[derive(Debug)]
struct Check {
    step: &'static str,
    held: bool,
    text: String,
}

/// Every assertion so far.
#[derive(Debug, Default)]
pub(super) struct Checks {
    step: &'static str,
    all: Vec<Check>,
}

impl Checks {
    pub(super) fn begin(&mut self, step: &'static str) {
        self.step = step;
    }

    /// Records one assertion.
    pub(super) fn check(&mut self, held: bool, text: impl Into<String>) {
        self.all.push(Check { step: self.step, held, text: text.into() });
    }

    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    pub(super) fn failed(&self) -> usize {
        self.all.iter().filter(|check| !check.held).count()
    }

    pub(super) fn lines_of_step(&self) -> Vec<String> {
        let of_step = self.all.iter().filter(|check| check.step == self.step);
        of_step
            .map(|check| format!("  {} {}", if check.held { "ok  " } else { "FAIL" }, check.text))
            .collect()
    }

    pub(super) fn to_json(&self) -> Value {
        self.all.iter().map(|c| json!({"step": c.step, "held": c.held, "text": c.text})).collect()
    }
}
