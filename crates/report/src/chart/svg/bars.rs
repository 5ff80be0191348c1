//! A bar for each label, its series one above the other.

use super::super::Chart;
use super::{colour, frame, legend, legend_height, open, rect};

pub(super) fn draw(chart: &Chart) -> String {
    let mut out = open(chart, frame::BELOW + legend_height(chart));
    let count = u64::try_from(chart.labels.len().max(1)).unwrap_or(1);
    let width = (frame::FIELD / count * 7 / 10).clamp(2, 64);
    let sum =
        |n: usize| chart.series.iter().filter_map(|series| series.values.get(n).copied().flatten()).sum();
    let largest: u64 = (0..chart.labels.len()).map(sum).max().unwrap_or(0);
    let top = frame::draw(&mut out, chart, largest);
    for n in 0..chart.labels.len() {
        let x = frame::middle(n, chart.labels.len()).saturating_sub(width / 2);
        let mut below = 0_u64;
        for (place, series) in chart.series.iter().enumerate() {
            let value = series.values.get(n).copied().flatten().unwrap_or(0);
            let (from, to) = (frame::height(below, top), frame::height(below + value, top));
            below += value;
            // What was counted is seen, however little it is.
            let tall = if value > 0 { (to - from).max(1) } else { 0 };
            if tall > 0 {
                rect(&mut out, [x, frame::TOP + frame::HEIGHT - from - tall, width, tall], colour(place));
            }
        }
    }
    legend(&mut out, chart, frame::BELOW - 8);
    out.push_str("</svg>");
    out
}
