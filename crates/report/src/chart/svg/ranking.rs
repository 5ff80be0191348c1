//! Lying bars, one group for each label, with the value at the end of each.

use super::super::{Chart, told};
use super::{WIDTH, colour, legend, legend_height, open, rect, text};

const LEFT: u64 = 210;
const FIELD: u64 = WIDTH - LEFT - 90;
const BAR: u64 = 14;
const GAP: u64 = 10;

pub(super) fn draw(chart: &Chart) -> String {
    let size = |n: usize| u64::try_from(n).unwrap_or(0);
    let group = BAR * size(chart.series.len()) + GAP;
    let below = GAP + group * size(chart.labels.len());
    let legends = if chart.series.len() > 1 { legend_height(chart) + GAP } else { 0 };
    let mut out = open(chart, below + legends);
    let all = chart.series.iter().flat_map(|series| series.values.iter().flatten());
    let largest = all.copied().max().unwrap_or(0).max(1);
    for (n, label) in chart.labels.iter().enumerate() {
        let top = GAP + group * size(n);
        text(&mut out, LEFT - 8, top + (group - GAP) / 2 + 4, "end", label);
        for (place, series) in chart.series.iter().enumerate() {
            let Some(value) = series.values.get(n).copied().flatten() else { continue };
            let y = top + BAR * size(place);
            let wide =
                u64::try_from(u128::from(value) * u128::from(FIELD) / u128::from(largest)).unwrap_or(FIELD);
            let wide = if value > 0 { wide.max(2) } else { 0 };
            rect(&mut out, [LEFT, y, wide, BAR - 2], colour(place));
            text(&mut out, LEFT + wide + 6, y + BAR - 3, "start", &told(value, chart.unit));
        }
    }
    if legends > 0 {
        legend(&mut out, chart, below);
    }
    out.push_str("</svg>");
    out
}
