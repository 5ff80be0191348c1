//! A report as one HTML file: nothing is loaded, nothing runs, every text is escaped.

use std::fmt::Write as _;

use loom_domain::{Code, Error, Result};

use super::{state_word, window_line};
use crate::chart::escape;
use crate::{Lang, Report};

/// Largest file, bytes.
const HTML_BYTES_MAX: usize = 2 * 1024 * 1024;
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
const STYLE: &str = "body{font:15px/1.5 sans-serif;color:#222;background:#fff;max-width:60rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2rem;border-bottom:1px solid #ddd}table{border-collapse:collapse;margin:.5rem 0}\
th,td{padding:.25rem .75rem .25rem 0;text-align:left;border-bottom:1px solid #eee;vertical-align:top}\
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(11rem,1fr));gap:1rem}dt{color:#555;font-size:.85rem}\
dd{margin:0;font-size:1.5rem}figure{margin:1rem 0}figcaption{font-weight:bold}svg{max-width:100%;height:auto}\
.note{color:#555}footer{margin-top:2rem;color:#555;font-size:.8rem;word-break:break-all}";

/// Writes it.
pub fn html(report: &Report) -> Result<String> {
    let lang = report.language;
    let code = match lang {
        Lang::En => "en",
        Lang::Zh => "zh",
    };
    let title = escape(&report.title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"{code}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n<h1>{title}</h1>\n<p>{}: {}</p>\n",
        lang.word("Window"),
        escape(&window_line(report))
    );
    summary(&mut out, report);
    charts(&mut out, report);
    for section in &report.sections {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "<h2>{}</h2>", escape(&section.title));
        if !section.rows.is_empty() {
            table(&mut out, &section.columns, &section.rows);
        }
        if let Some(note) = &section.note {
            let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(note));
        }
    }
    sources(&mut out, report);
    let _ = writeln!(
        out,
        "<footer>{} · {} · loom {}</footer>\n</body>\n</html>",
        report.report_id,
        report.digest,
        escape(&report.version)
    );
    if out.len() > HTML_BYTES_MAX {
        return Err(Error::new(Code::TooLarge, format!("the report is over {HTML_BYTES_MAX} bytes of HTML")));
    }
    Ok(out)
}

fn summary(out: &mut String, report: &Report) {
    out.push_str("<dl>\n");
    for line in &report.summary {
        let _ = writeln!(out, "<div><dt>{}</dt><dd>{}</dd></div>", escape(&line.label), escape(&line.value));
    }
    out.push_str("</dl>\n");
}

fn charts(out: &mut String, report: &Report) {
    let no_data = report.language.word("No data in this window");
    for chart in &report.charts {
        let _ = writeln!(out, "<figure>\n<figcaption>{}</figcaption>", escape(&chart.title));
        match chart.svg(&no_data) {
            Some(svg) => out.push_str(&svg),
            None => {
                let words = report.language.word("The report has no chart of this size; see the table");
                let _ = write!(out, "<p class=\"note\">{}</p>", escape(&words));
            }
        }
        out.push_str("\n</figure>\n");
    }
}

fn sources(out: &mut String, report: &Report) {
    let lang = report.language;
    let _ = writeln!(out, "<h2>{}</h2>", lang.word("Sources"));
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
    table(out, &columns, &rows);
}

fn table(out: &mut String, columns: &[String], rows: &[Vec<String>]) {
    let cells = |out: &mut String, cells: &[String], tag: &str| {
        out.push_str("<tr>");
        for cell in cells {
            let _ = write!(out, "<{tag}>{}</{tag}>", escape(cell));
        }
        out.push_str("</tr>\n");
    };
    out.push_str("<table>\n");
    cells(out, columns, "th");
    rows.iter().for_each(|row| cells(out, row, "td"));
    out.push_str("</table>\n");
}
