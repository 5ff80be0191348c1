//! Periodic reports: what happened in a window of time, as Markdown, HTML and JSON.
//!
//! What it is not: it reads no clock, store or file, and sends nothing. Facts come in, documents go out.
//!
//! Invariants
//! - Facts, window, zone, profile, language and version fix every byte of every form.
//! - A source that was not asked is told as not observed; it is never shown as zero.
//! - HTML loads nothing and runs nothing, and every text in it is escaped.

mod build;
mod chart;
mod document;
mod facts;
mod profile;
mod render;
mod sections;
#[cfg(test)]
extern crate self as loom_report;
#[cfg(test)]
mod tests;
mod window;
mod words;

pub use build::{Order, build};
pub use chart::{Chart, Kind, Series, Unit};
pub use document::{Report, SCHEMA, Section, SourceLine, SummaryLine};
pub use facts::{
    Apply, ConnectionFact, Delivery, Facts, Item, Observed, Refusal, Run, SourceState, TurnFact,
};
pub use profile::{Profile, Source};
pub use render::{Form, html, markdown, summary_text};
pub use window::{Bucket, WeekStart, Window, zone_of};
pub use words::Lang;
