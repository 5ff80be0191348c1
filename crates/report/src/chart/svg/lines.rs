//! A line for each series; a place without a value is a gap.

use std::fmt::Write as _;

use super::super::{Chart, Series};
use super::{colour, frame, legend, legend_height, open};

pub(super) fn draw(chart: &Chart) -> String {
    let mut out = open(chart, frame::BELOW + legend_height(chart));
    let all = chart.series.iter().flat_map(|series| series.values.iter().flatten());
    let top = frame::draw(&mut out, chart, all.copied().max().unwrap_or(0));
    for (place, series) in chart.series.iter().enumerate() {
        line(&mut out, series, chart.labels.len(), top, colour(place));
    }
    legend(&mut out, chart, frame::BELOW - 8);
    out.push_str("</svg>");
    out
}

fn line(out: &mut String, series: &Series, count: usize, top: u64, colour: &str) {
    let point = |(n, value): (usize, &Option<u64>)| {
        value.map(|value| (frame::middle(n, count), frame::TOP + frame::HEIGHT - frame::height(value, top)))
    };
    let points: Vec<Option<(u64, u64)>> = series.values.iter().enumerate().map(point).collect();
    for run in points.split(Option::is_none).filter(|run| run.len() > 1) {
        let path: Vec<String> = run.iter().flatten().map(|(x, y)| format!("{x},{y}")).collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join(" ")
        );
    }
    for (x, y) in points.iter().flatten() {
        let _ = writeln!(out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"3\" fill=\"{colour}\"/>");
    }
}
