//! Prints one page of a list in the three forms.

use serde_json::Value;

use super::{Column, Format, Look, Printer, pick};
use crate::failure::Outcome;

/// How a list is shown to people.
pub(crate) struct Listing {
    /// Columns of the table.
    pub(crate) columns: &'static [Column],
    /// Further lines of a row.
    pub(crate) below: fn(&Value, &Look) -> Vec<String>,
    /// What to say when there is nothing.
    pub(crate) empty: &'static str,
}

impl Listing {
    /// A list without further lines.
    pub(crate) const fn new(columns: &'static [Column], empty: &'static str) -> Self {
        Listing { columns, below: |_, _| Vec::new(), empty }
    }
}

/// The items of a page.
pub(crate) fn items(page: &Value) -> &[Value] {
    pick::list(page, "items")
}

impl Printer<'_> {
    /// Prints a page: a table, the page itself, or an object a line.
    pub(crate) fn list(&mut self, page: &Value, listing: &Listing) -> Outcome {
        match self.style.format {
            Format::Json => self.json(page),
            Format::Ndjson => items(page).iter().try_for_each(|item| self.json(item)),
            Format::Human => self.human_list(page, listing),
        }
    }

    fn human_list(&mut self, page: &Value, listing: &Listing) -> Outcome {
        if items(page).is_empty() {
            return self.note(listing.empty);
        }
        self.table(listing.columns, items(page), listing.below)?;
        match pick::text(page, "nextCursor") {
            cursor if cursor.is_empty() => Ok(()),
            cursor => self.note(&format!("more: --cursor {cursor}")),
        }
    }
}
