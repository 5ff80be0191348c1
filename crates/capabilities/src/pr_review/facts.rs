//! What is material about a pull request, out of its record (`loom.pr_record/v1`): pure.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The facts whose change counts; what was not read is none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Facts {
    pub(crate) head: Option<String>,
    pub(crate) draft: bool,
    pub(crate) state: Option<String>,
    pub(crate) base: Option<String>,
    /// In order.
    pub(crate) labels: Vec<String>,
    pub(crate) checks: Option<String>,
    pub(crate) review: Option<String>,
    pub(crate) mergeable: Option<String>,
    /// Why it can or cannot be merged; it follows from the others, so its change alone does not count.
    pub(crate) merge: Option<String>,
}

impl Facts {
    /// Reads them out of a record.
    pub(crate) fn of(record: &Value) -> Self {
        let text = |pointer: &str| record.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let labels = record["labels"].as_array().into_iter().flatten();
        let mut labels: Vec<String> = labels.filter_map(Value::as_str).map(str::to_owned).collect();
        labels.sort();
        Facts {
            head: text("/head/oid"),
            draft: record["draft"].as_bool().unwrap_or_default(),
            state: text("/state"),
            base: text("/base/ref"),
            labels,
            checks: text("/checks/state"),
            review: text("/reviews/decision"),
            mergeable: text("/merge/mergeable"),
            merge: text("/merge/state"),
        }
    }

    /// Names of the members whose change counts.
    pub(crate) fn differences(&self, other: &Facts) -> Vec<&'static str> {
        let all = [
            ("head", self.head != other.head),
            ("draft", self.draft != other.draft),
            ("state", self.state != other.state),
            ("base", self.base != other.base),
            ("labels", self.labels != other.labels),
            ("checks", self.checks != other.checks),
            ("review", self.review != other.review),
            ("mergeable", self.mergeable != other.mergeable),
        ];
        all.into_iter().filter_map(|(name, differs)| differs.then_some(name)).collect()
    }
}
