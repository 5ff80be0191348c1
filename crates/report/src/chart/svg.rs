//! Charts as SVG: plain shapes with a title and a description, no script, no style sheet, nothing loaded.

mod bars;
mod frame;
mod lines;
mod ranking;

use std::fmt::Write as _;

use super::{Chart, Kind};

/// Width of every chart.
const WIDTH: u64 = 720;
/// Colours of series: apart from each other also for eyes that see few colours.
const COLOURS: [&str; 8] =
    ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8c6d1f", "#5c5c5c"];
/// Characters of a label.
const LABEL_CHARS: usize = 28;

/// Draws a chart.
pub(super) fn draw(chart: &Chart, no_data: &str) -> String {
    if chart.is_empty() {
        return nothing(chart, no_data);
    }
    match chart.kind {
        Kind::StackedBars => bars::draw(chart),
        Kind::Lines => lines::draw(chart),
        Kind::Ranking => ranking::draw(chart),
    }
}

/// The beginning of a picture: its size, and what it shows for those who do not see it.
fn open(chart: &Chart, height: u64) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         role=\"img\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333333\">\n<title>{}</title>\n<desc>{}</desc>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n",
        escape(&chart.title),
        escape(&chart.description)
    );
    out
}

fn nothing(chart: &Chart, no_data: &str) -> String {
    let mut out = open(chart, 60);
    text(&mut out, WIDTH / 2, 34, "middle", no_data);
    out.push_str("</svg>");
    out
}

fn text(out: &mut String, x: u64, y: u64, anchor: &str, words: &str) {
    let _ =
        writeln!(out, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>", escape(&short(words)));
}

fn rect(out: &mut String, [x, y, width, height]: [u64; 4], colour: &str) {
    let _ =
        writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{colour}\"/>");
}

fn colour(n: usize) -> &'static str {
    COLOURS.get(n % COLOURS.len()).copied().unwrap_or("#5c5c5c")
}

/// The names of the series with their colours, in rows below a chart; gives the height they take.
fn legend(out: &mut String, chart: &Chart, top: u64) -> u64 {
    const COLUMN: u64 = 170;
    const ROW: u64 = 20;
    let (mut x, mut y) = (60, top);
    for (n, series) in chart.series.iter().enumerate() {
        if x + COLUMN > WIDTH {
            (x, y) = (60, y + ROW);
        }
        rect(out, [x, y, 12, 12], colour(n));
        text(out, x + 18, y + 10, "start", &series.name);
        x += COLUMN;
    }
    y + ROW - top
}

/// Rows of the legend, in height.
fn legend_height(chart: &Chart) -> u64 {
    legend(&mut String::new(), chart, 0)
}

fn short(text: &str) -> String {
    if text.chars().count() <= LABEL_CHARS {
        return text.to_owned();
    }
    text.chars().take(LABEL_CHARS - 1).chain(['…']).collect()
}

/// Text of an SVG or HTML document.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(' '),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}
