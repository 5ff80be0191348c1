//! The forms of a report for people.

mod html;
mod markdown;
mod summary;

pub use html::html;
pub use markdown::markdown;
pub use summary::summary_text;

use loom_domain::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::{Lang, Report, SourceState};

/// A form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Markdown.
    Markdown,
    /// HTML with charts.
    Html,
    /// The document.
    Json,
}

impl Form {
    /// Reads names, comma separated.
    pub fn parse_list(text: &str) -> Result<Vec<Form>> {
        let one = |word: &str| match word.trim() {
            "markdown" | "md" => Ok(Form::Markdown),
            "html" => Ok(Form::Html),
            "json" => Ok(Form::Json),
            _ => Err(Error::invalid("as", "expected some of markdown, html, json")),
        };
        let mut forms = text.split(',').map(one).collect::<Result<Vec<Form>>>()?;
        forms.sort_unstable();
        forms.dedup();
        Ok(forms)
    }

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Form::Markdown => "markdown",
            Form::Html => "html",
            Form::Json => "json",
        }
    }

    /// Name of the file.
    pub const fn file_name(self) -> &'static str {
        match self {
            Form::Markdown => "report.md",
            Form::Html => "report.html",
            Form::Json => "report.json",
        }
    }

    /// A report in this form.
    pub fn render(self, report: &Report) -> Result<String> {
        match self {
            Form::Markdown => Ok(markdown(report)),
            Form::Html => html(report),
            Form::Json => {
                let mut text = serde_json::to_string_pretty(report).map_err(Error::internal)?;
                text.push('\n');
                Ok(text)
            }
        }
    }
}

fn state_word(lang: Lang, state: SourceState) -> String {
    lang.word(match state {
        SourceState::Complete => "complete",
        SourceState::Partial => "partial",
        SourceState::NotObserved => "not observed",
    })
}

/// The window as people of its zone write it.
fn window_line(report: &Report) -> String {
    let window = &report.window;
    format!("{} – {} ({})", window.wall(window.start), window.wall(window.end), window.zone)
}
