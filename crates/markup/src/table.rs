//! Markdown tables as fenced, aligned text.

use std::ops::Range;

use comrak::nodes::{NodeValue, TableAlignment};
use comrak::{Arena, Options, parse_document};
use unicode_segmentation::UnicodeSegmentation;

/// Widest column that is padded; longer cells run over.
const COLUMN_WIDTH_MAX: usize = 60;

/// Replacement of a part of a text.
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) with: String,
}

/// Replaces every Markdown table by a fenced block of aligned text.
pub fn tables_to_fences(markdown: &str) -> String {
    apply(markdown, &table_edits(markdown), str::to_owned)
}

/// Puts the edits into the text; what lies between them goes through `rest`.
pub(crate) fn apply(text: &str, edits: &[Edit], rest: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits.iter().filter(|edit| edit.range.start <= edit.range.end) {
        if edit.range.start < at {
            continue;
        }
        out.push_str(&rest(text.get(at..edit.range.start).unwrap_or("")));
        out.push_str(&edit.with);
        at = edit.range.end;
    }
    out.push_str(&rest(text.get(at..).unwrap_or("")));
    out
}

/// Options under which agent Markdown is read.
pub(crate) fn options() -> Options<'static> {
    let mut options = Options::default();
    options.extension.table = true;
    options
}

/// Byte offset of each line's start.
pub(crate) fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

pub(crate) fn table_edits(markdown: &str) -> Vec<Edit> {
    if !markdown.contains('|') {
        return Vec::new();
    }
    let arena = Arena::new();
    let root = parse_document(&arena, markdown, &options());
    let starts = line_starts(markdown);
    let mut edits = Vec::new();
    for node in root.descendants() {
        let data = node.data();
        if let NodeValue::Table(table) = &data.value {
            let pos = data.sourcepos;
            let from = starts.get(pos.start.line - 1).copied().unwrap_or(0) + pos.start.column - 1;
            let to = starts.get(pos.end.line).map_or(markdown.len(), |next| next - 1);
            let lines: Vec<&str> = markdown.get(from..to).unwrap_or("").lines().collect();
            if lines.len() >= 2 {
                edits.push(Edit {
                    range: from..to,
                    with: fenced(&lines, pos.start.column - 1, &table.alignments),
                });
            }
        }
    }
    edits
}

/// `indent` is the width of the list or quote marks before each further line; the delimiter row shows them.
fn fenced(lines: &[&str], indent: usize, alignments: &[TableAlignment]) -> String {
    let prefix = lines.get(1).and_then(|line| line.get(..indent)).unwrap_or("");
    let rows: Vec<Vec<String>> = lines
        .iter()
        .enumerate()
        .filter(|(n, _)| *n != 1)
        .map(|(n, line)| cells(if n == 0 { line } else { line.get(indent..).unwrap_or(line) }))
        .collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|c| rows.iter().filter_map(|row| row.get(c)).map(|cell| width(cell)).max().unwrap_or(0))
        .map(|w| w.clamp(3, COLUMN_WIDTH_MAX))
        .collect();
    let marks = "`".repeat(longest_run(lines).max(2) + 1);
    let rule = widths.iter().map(|w| "-".repeat(*w)).collect::<Vec<_>>().join("-+-");
    let mut out = vec![marks.clone()];
    for (n, row) in rows.iter().enumerate() {
        out.push(render(row, &widths, alignments));
        if n == 0 {
            out.push(rule.clone());
        }
    }
    out.push(marks);
    out.join(&format!("\n{prefix}"))
}

fn render(row: &[String], widths: &[usize], alignments: &[TableAlignment]) -> String {
    let line: Vec<String> = widths
        .iter()
        .enumerate()
        .take(row.len())
        .map(|(c, column)| {
            let cell = row.get(c).map_or("", String::as_str);
            let gap = column.saturating_sub(width(cell));
            let left = match alignments.get(c) {
                Some(TableAlignment::Right) => gap,
                Some(TableAlignment::Center) => gap / 2,
                _ => 0,
            };
            format!("{}{cell}{}", " ".repeat(left), " ".repeat(gap - left))
        })
        .collect();
    line.join(" | ").trim_end().to_owned()
}

/// The cells of one row; `\|` is a bar inside a cell.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut is_escaped = false;
    for c in line.chars() {
        if let Some(cell) = cells.last_mut().filter(|_| c != '|' || is_escaped) {
            if c == '|' {
                cell.pop();
            }
            cell.push(c);
            is_escaped = c == '\\' && !is_escaped;
        } else {
            cells.push(String::new());
        }
    }
    if cells.len() > 1 && cells.last().is_some_and(|cell| cell.trim().is_empty()) {
        cells.pop();
    }
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

fn longest_run(lines: &[&str]) -> usize {
    lines.iter().flat_map(|line| line.split(|c| c != '`')).map(str::len).max().unwrap_or(0)
}

/// Columns a text takes in a fixed-width font; East Asian wide characters and emoji take two.
fn width(text: &str) -> usize {
    text.graphemes(true).map(|g| if g.chars().any(is_wide) { 2 } else { 1 }).sum()
}

fn is_wide(c: char) -> bool {
    matches!(u32::from(c), 0x1100..=0x115F | 0x2E80..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60 | 0xFFE0..=0xFFE6 | 0x1F300..=0x1F64F | 0x1F900..=0x1F9FF | 0x20000..=0x3FFFD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(markdown: &str, want: &str) {
        assert_eq!(tables_to_fences(markdown), want);
    }

    /// MSG-176: a table becomes an aligned block and loses no cell.
    #[test]
    fn msg_176_tables_are_aligned_text() {
        check(
            "Stock:\n\n| Item | Qty |\n|:--|--:|\n| **nuts** | 7 |\n| a\\|b | 1200 |\n\nend",
            "Stock:\n\n```\nItem     |  Qty\n---------+-----\n**nuts** |    7\na|b      | 1200\n```\n\nend",
        );
        check("a | b\n-|-\n漢字 | x | extra", "```\na    | b\n-----+-----+------\n漢字 | x   | extra\n```");
    }

    #[test]
    fn a_table_in_a_list_or_quote_stays_there() {
        check(
            "- | a |\n  |---|\n  | `` ```x ``` `` |\n",
            "- ````\n  a\n  --------------\n  `` ```x ``` ``\n  ````\n",
        );
        check("> | a |\n> |---|\n> | b |", "> ```\n> a\n> ---\n> b\n> ```");
    }

    #[test]
    fn bars_elsewhere_are_no_table() {
        check("a | b\nc | d", "a | b\nc | d");
        check("```\n| a |\n|---|\n```", "```\n| a |\n|---|\n```");
    }
}
