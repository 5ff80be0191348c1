//! Charts: the series that stand in the JSON, and the same as a picture.

mod svg;

pub(crate) use svg::escape;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest picture, bytes.
pub(crate) const SVG_BYTES_MAX: usize = 64 * 1024;

/// What the numbers of a chart are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A number of things.
    Count,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Tokens.
    Tokens,
}

/// How a chart is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A bar for each label, its series one above the other.
    StackedBars,
    /// A line for each series.
    Lines,
    /// A bar for each label, lying, its series side by side.
    Ranking,
}

/// Values of one name, one for each label; absent is no value, not zero.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: Vec<Option<u64>>,
}

/// A chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Chart {
    /// Id, unique in the report.
    pub id: String,
    /// Title.
    pub title: String,
    /// One sentence.
    pub description: String,
    /// How it is drawn.
    pub kind: Kind,
    /// What the numbers are.
    pub unit: Unit,
    /// Labels.
    pub labels: Vec<String>,
    /// Series.
    pub series: Vec<Series>,
}

impl Chart {
    /// The picture; nothing when it would be too large.
    pub fn svg(&self, no_data: &str) -> Option<String> {
        let svg = svg::draw(self, no_data);
        (svg.len() <= SVG_BYTES_MAX).then_some(svg)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.series.iter().all(|series| series.values.iter().flatten().all(|value| *value == 0))
    }
}

/// A value with its unit.
pub(crate) fn told(value: u64, unit: Unit) -> String {
    match unit {
        Unit::Count | Unit::Tokens => grouped(value),
        Unit::Milliseconds => duration(value),
        Unit::Seconds => duration(value.saturating_mul(1_000)),
    }
}

/// A number with its thousands apart.
pub(crate) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A duration in its largest fitting unit, with one place behind the point.
pub(crate) fn duration(ms: u64) -> String {
    const STEPS: [(u64, &str); 4] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s")];
    for (size, unit) in STEPS {
        if ms >= size {
            let tenths = ms / (size / 10);
            let (whole, tenth) = (tenths / 10, tenths % 10);
            return if tenth == 0 { format!("{whole} {unit}") } else { format!("{whole}.{tenth} {unit}") };
        }
    }
    format!("{ms} ms")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_as_people_write_them() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [0, 999, 1_000, 1_550, 90_000, 5_400_000].map(duration),
            ["0 ms", "999 ms", "1 s", "1.5 s", "1.5 min", "1.5 h"]
        );
    }
}
