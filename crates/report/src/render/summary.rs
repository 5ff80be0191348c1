//! The text that goes with the files of a report.

use super::window_line;
use crate::Report;

/// Longest text, characters.
const CHARS_MAX: usize = 3_000;

/// Writes it: title, window, and the numbers that a reader wants first.
pub fn summary_text(report: &Report) -> String {
    let mut text = format!("{}\n{}\n", report.title, window_line(report));
    for line in &report.summary {
        text.push_str(&format!("- {}: {}\n", line.label, line.value));
    }
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned(),
        None => text,
    }
}
