//! Tables without borders that fit the terminal.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use loom_domain::Timestamp;
use serde_json::Value;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::escape::escape;
use super::{pick, time};

/// No column is cut below this width.
const COLUMN_WIDTH_MIN: usize = 8;
/// Characters of message text in a table that is cut.
const TEXT_CHARS: usize = 80;
const GAP: usize = 2;

/// How cells are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// Start of the command.
    pub(crate) now: Timestamp,
    /// Whether nothing is cut and times are exact.
    pub(crate) wide: bool,
}

impl Look {
    /// A time: relative, or exact when wide.
    pub(crate) fn time(&self, object: &Value, path: &str) -> String {
        let text = pick::dash(object, path);
        match (self.wide, text.parse::<Timestamp>()) {
            (false, Ok(at)) => time::relative(at, self.now),
            _ => text,
        }
    }

    /// Seconds as a span, or the bare number when wide.
    pub(crate) fn seconds(&self, object: &Value, path: &str) -> String {
        match pick::value(object, path).and_then(Value::as_i64) {
            None => "-".to_owned(),
            Some(seconds) if self.wide => format!("{seconds}s"),
            Some(seconds) => time::span(seconds),
        }
    }

    /// Message text on one line, cut at 80 characters unless wide.
    pub(crate) fn text(&self, object: &Value, path: &str) -> String {
        let text = pick::text(object, path);
        if self.wide || text.chars().count() <= TEXT_CHARS {
            text
        } else {
            text.chars().take(TEXT_CHARS - 1).chain(['…']).collect()
        }
    }
}

/// One column.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    head: &'static str,
    cell: fn(&Value, &Look) -> String,
    right: bool,
}

impl Column {
    /// A column of text.
    pub(crate) const fn new(head: &'static str, cell: fn(&Value, &Look) -> String) -> Self {
        Column { head, cell, right: false }
    }

    /// A column of numbers.
    pub(crate) const fn number(head: &'static str, cell: fn(&Value, &Look) -> String) -> Self {
        Column { head, cell, right: true }
    }
}

/// Lays out rows; the first line is the header. `width` is the terminal's, when cells are to be cut.
pub(super) fn lines(columns: &[Column], rows: &[Value], look: &Look, width: Option<usize>) -> Vec<String> {
    let mut cells: Vec<Vec<String>> = vec![columns.iter().map(|c| c.head.to_owned()).collect()];
    cells.extend(rows.iter().map(|row| columns.iter().map(|c| escape(&(c.cell)(row, look))).collect()));
    if let Some(width) = width.filter(|_| !look.wide) {
        let widths = fitted(&cells, columns.len(), width);
        for row in &mut cells {
            row.iter_mut().zip(&widths).for_each(|(cell, width)| *cell = cut(cell, *width));
        }
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    cells.into_iter().for_each(|row| {
        table.add_row(row);
    });
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, u16::try_from(GAP).unwrap_or(0)));
        if columns.get(index).is_some_and(|c| c.right) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// Widths of columns, the widest ones shrunk until all fit.
fn fitted(cells: &[Vec<String>], count: usize, width: usize) -> Vec<usize> {
    let widest =
        |index: usize| cells.iter().filter_map(|row| row.get(index)).map(|c| c.width()).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..count).map(widest).collect();
    loop {
        let total: usize = widths.iter().sum::<usize>() + GAP * count.saturating_sub(1);
        match widths.iter_mut().max() {
            Some(largest) if total > width && *largest > COLUMN_WIDTH_MIN => {
                *largest = (*largest - 1).max(COLUMN_WIDTH_MIN);
            }
            _ => return widths,
        }
    }
}

fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let kept = text.chars().take_while(|c| {
        let room = c.width().unwrap_or(0);
        let fits = room <= left;
        left = left.saturating_sub(room);
        fits
    });
    kept.chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const COLUMNS: &[Column] = &[
        Column::new("ID", |v, _| pick::text(v, "id")),
        Column::number("N", |v, _| pick::text(v, "n")),
        Column::new("TEXT", |v, look| look.text(v, "text")),
    ];

    fn check(width: Option<usize>, wide: bool) -> Vec<String> {
        let rows = [
            json!({"id": "a1", "n": 7, "text": "short"}),
            json!({"id": "b", "n": 12, "text": "a longer text with \u{1b}[2J and 你好"}),
        ];
        lines(COLUMNS, &rows, &Look { now: Timestamp(0), wide }, width)
    }

    #[test]
    fn cells_are_aligned_and_escaped() {
        assert_eq!(
            check(None, false),
            ["ID   N  TEXT", "a1   7  short", "b   12  a longer text with \\u{1b}[2J and 你好",]
        );
    }

    #[test]
    fn long_cells_are_cut_unless_wide() {
        assert_eq!(check(Some(24), false).last().unwrap(), "b   12  a longer text w…");
        assert!(check(Some(24), true).last().unwrap().ends_with("你好"));
    }
}
