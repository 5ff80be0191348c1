//! The one place that prints: tables and blocks for people, JSON and NDJSON for programs.

mod error;
mod escape;
mod list;
mod mutation;
mod payload;
pub(crate) mod pick;
mod plan;
mod printer;
mod stream;
mod table;
mod time;

pub(crate) use list::{Listing, items};
pub(crate) use printer::{Printer, Style};
pub(crate) use stream::{Progress, Stream};
pub(crate) use table::{Column, Look};

use clap::ValueEnum;

/// Form of what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Human,
    /// One JSON document.
    Json,
    /// One JSON object a line.
    Ndjson,
}
