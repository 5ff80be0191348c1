//! The axes of a chart over time.

use std::fmt::Write as _;

use super::super::{Chart, told};
use super::{WIDTH, text};

/// The field in which values are drawn.
pub(super) const LEFT: u64 = 72;
const RIGHT: u64 = 16;
pub(super) const TOP: u64 = 16;
pub(super) const HEIGHT: u64 = 200;
pub(super) const FIELD: u64 = WIDTH - LEFT - RIGHT;
/// Steps of the scale.
const STEPS: u64 = 4;
/// Labels that fit below the field.
const LABELS_MAX: usize = 8;

/// Height of a chart with these axes, without its legend.
pub(super) const BELOW: u64 = TOP + HEIGHT + 36;

/// Draws scale, lines and labels; gives the value at the top.
pub(super) fn draw(out: &mut String, chart: &Chart, largest: u64) -> u64 {
    let top = ceiling(largest);
    for step in 0..=STEPS {
        let y = TOP + HEIGHT - HEIGHT * step / STEPS;
        let shade = if step == 0 { "#666666" } else { "#dddddd" };
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\" stroke=\"{shade}\"/>",
            LEFT + FIELD
        );
        let scale = if step == 0 { "0".to_owned() } else { told(top * step / STEPS, chart.unit) };
        text(out, LEFT - 8, y + 4, "end", &scale);
    }
    let every = chart.labels.len().div_ceil(LABELS_MAX).max(1);
    for (n, label) in chart.labels.iter().enumerate().step_by(every) {
        text(out, middle(n, chart.labels.len()), TOP + HEIGHT + 18, "middle", label);
    }
    top
}

/// The middle of a label's place.
pub(super) fn middle(n: usize, count: usize) -> u64 {
    let [n, count] = [n, count.max(1)].map(|n| u64::try_from(n).unwrap_or(u64::MAX));
    LEFT + (2 * n + 1) * FIELD / (2 * count)
}

/// Height of a value.
pub(super) fn height(value: u64, top: u64) -> u64 {
    let tall = u128::from(value) * u128::from(HEIGHT) / u128::from(top.max(1));
    u64::try_from(tall).unwrap_or(HEIGHT).min(HEIGHT)
}

/// The next larger number that can be divided into equal steps that people read well.
fn ceiling(largest: u64) -> u64 {
    let mut power = 1_u64;
    loop {
        for factor in [4, 8, 12, 20, 28] {
            let candidate = power.saturating_mul(factor);
            if candidate >= largest {
                return candidate;
            }
        }
        power = power.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_above_their_values() {
        assert_eq!([0, 4, 5, 13, 29, 41, 100, 1_000].map(ceiling), [4, 4, 8, 20, 40, 80, 120, 1_200]);
        assert!(ceiling(u64::MAX) == u64::MAX);
        assert_eq!(height(u64::MAX, u64::MAX), HEIGHT);
    }
}
