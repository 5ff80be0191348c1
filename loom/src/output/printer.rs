//! Writes to stdout and stderr in the chosen form.

use std::io::Write;

use serde_json::Value;

use super::Format;
use super::escape::escape;
use super::table::{self, Column, Look};
use crate::failure::Outcome;

/// How things are printed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    /// Form.
    pub(crate) format: Format,
    /// Whether escape sequences may be used.
    pub(crate) colour: bool,
    /// Whether talk on stderr is left out; errors never are.
    pub(crate) quiet: bool,
    /// Columns to cut tables at.
    pub(crate) columns: Option<usize>,
    /// How cells are shown.
    pub(crate) look: Look,
}

/// Prints data to stdout and talk to stderr.
pub(crate) struct Printer<'a> {
    pub(super) out: &'a mut dyn Write,
    pub(super) err: &'a mut dyn Write,
    pub(super) style: Style,
}

impl<'a> Printer<'a> {
    /// Prints in a style.
    pub(crate) fn new(out: &'a mut dyn Write, err: &'a mut dyn Write, style: Style) -> Self {
        Printer { out, err, style }
    }

    /// Whether a person reads.
    pub(crate) fn is_human(&self) -> bool {
        self.style.format == Format::Human
    }

    /// How cells are shown.
    pub(crate) fn look(&self) -> Look {
        self.style.look
    }

    /// Prints one object for programs.
    pub(crate) fn json(&mut self, value: &Value) -> Outcome {
        match self.style.format {
            Format::Json => writeln!(self.out, "{value:#}")?,
            Format::Human | Format::Ndjson => writeln!(self.out, "{value}")?,
        }
        Ok(())
    }

    /// Prints one line for people.
    pub(crate) fn line(&mut self, text: &str) -> Outcome {
        Ok(writeln!(self.out, "{}", escape(text).trim_end())?)
    }

    /// Prints a heading.
    pub(crate) fn heading(&mut self, text: &str) -> Outcome {
        if self.style.colour {
            Ok(writeln!(self.out, "\u{1b}[1m{}\u{1b}[0m", escape(text))?)
        } else {
            self.line(text)
        }
    }

    /// Prints text of several lines, indented.
    pub(crate) fn block(&mut self, text: &str) -> Outcome {
        text.split('\n').try_for_each(|line| self.line(&format!("    {}", line.trim_end_matches('\r'))))
    }

    /// Prints a generated document as it is.
    pub(crate) fn document(&mut self, text: &str) -> Outcome {
        self.out.write_all(text.as_bytes())?;
        Ok(())
    }

    /// Prints names with their values, one a line; empty values are left out.
    pub(crate) fn fields(&mut self, fields: &[(&str, String)]) -> Outcome {
        let width = fields.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        fields
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .try_for_each(|(name, value)| self.line(&format!("{name:<width$}  {value}")))
    }

    /// Prints a table; `below` gives further lines for a row.
    pub(crate) fn table(
        &mut self,
        columns: &[Column],
        rows: &[Value],
        below: fn(&Value, &Look) -> Vec<String>,
    ) -> Outcome {
        let look = self.style.look;
        let lines = table::lines(columns, rows, &look, self.style.columns);
        for (index, line) in lines.iter().enumerate() {
            match index {
                0 if self.style.colour => writeln!(self.out, "\u{1b}[1m{line}\u{1b}[0m")?,
                _ => writeln!(self.out, "{line}")?,
            }
            let row = index.checked_sub(1).and_then(|row| rows.get(row));
            for more in row.map(|row| below(row, &look)).unwrap_or_default() {
                self.line(&format!("    {more}"))?;
            }
        }
        Ok(())
    }

    /// Says something on stderr, unless quiet.
    pub(crate) fn note(&mut self, text: &str) -> Outcome {
        if !self.style.quiet {
            writeln!(self.err, "{}", escape(text))?;
        }
        Ok(())
    }

    /// Asks a person for something on stderr, also when quiet: the command waits for it.
    pub(crate) fn ask(&mut self, text: &str) -> Outcome {
        writeln!(self.err, "{}", escape(text))?;
        Ok(self.err.flush()?)
    }

    /// Hands what was printed on.
    pub(crate) fn flush(&mut self) -> Outcome {
        self.out.flush()?;
        Ok(())
    }
}
