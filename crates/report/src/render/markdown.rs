//! A report as Markdown: tables stand in place of charts.

use std::fmt::Write as _;

use super::{state_word, window_line};
use crate::Report;
use crate::chart::{Chart, told};

/// Writes it.
pub fn markdown(report: &Report) -> String {
    let lang = report.language;
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "# {}\n\n{}: {}\n",
        escape(&report.title),
        lang.word("Window"),
        escape(&window_line(report))
    );
    let _ = writeln!(out, "## {}\n", lang.word("Summary"));
    for line in &report.summary {
        let _ = writeln!(out, "- {}: **{}**", escape(&line.label), escape(&line.value));
    }
    for section in &report.sections {
        let _ = writeln!(out, "\n## {}\n", escape(&section.title));
        if !section.rows.is_empty() {
            table(&mut out, &section.columns, &section.rows);
        }
        if let Some(note) = &section.note {
            let _ = writeln!(out, "{}", escape(note));
        }
    }
    for chart in report.charts.iter().filter(|chart| !chart.is_empty()) {
        let _ = writeln!(out, "\n## {}\n\n{}\n", escape(&chart.title), escape(&chart.description));
        series(&mut out, chart);
    }
    let _ = writeln!(out, "\n## {}\n", lang.word("Sources"));
    let columns = ["Source", "State", "Records", "Note"].map(|word| lang.word(word));
    let rows: Vec<Vec<String>> = report
        .sources
        .iter()
        .map(|source| {
            vec![
                source.name.clone(),
                state_word(lang, source.state),
                source.records.to_string(),
                source.note.clone().unwrap_or_default(),
            ]
        })
        .collect();
    table(&mut out, &columns, &rows);
    let _ = writeln!(out, "\n{} · {} · loom {}", report.report_id, report.digest, escape(&report.version));
    out
}

fn series(out: &mut String, chart: &Chart) {
    let columns: Vec<String> =
        std::iter::once(String::new()).chain(chart.series.iter().map(|series| series.name.clone())).collect();
    let row = |(n, label): (usize, &String)| {
        let value =
            |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| told(value, chart.unit));
        let values = chart.series.iter().map(|series| value(series.values.get(n).copied().flatten()));
        std::iter::once(label.clone()).chain(values).collect()
    };
    let rows: Vec<Vec<String>> = chart.labels.iter().enumerate().map(row).collect();
    table(out, &columns, &rows);
}

fn table(out: &mut String, columns: &[String], rows: &[Vec<String>]) {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    out.push_str(&line(columns));
    let _ = writeln!(out, "|{}", " --- |".repeat(columns.len()));
    rows.iter().for_each(|row| out.push_str(&line(row)));
}

/// Text that is text in Markdown too.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '|' | '#' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
