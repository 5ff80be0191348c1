//! A simulated EDGAR: companies, their filings and facts, and the fair-access rule of the SEC.
//!
//! One loopback port serves the paths of `https://www.sec.gov` and `https://data.sec.gov`. The client under test gets
//! [`SecTwin::base_url`]. A test reads the world behind the answers ([`SecTwin::company`]), changes it
//! ([`SecTwin::edit`]), makes requests fail ([`SecTwin::fault`]) and reads what was asked ([`SecTwin::requests`]) and how
//! fast ([`SecTwin::busiest_second`], [`SecTwin::rate_exceeded`]).
//!
//! Filings and figures are functions of the seed; nothing in them is true of any company.
//!
//! The same over HTTP: `GET /twin/requests`, `GET /twin/faults`, `POST /twin/fault` with a [`Fault`] of
//! [`FaultAction`], `POST /twin/clear`.
//!
//! # Sources
//!
//! Paths and fields: «EDGAR Application Programming Interfaces»,
//! <https://www.sec.gov/search-filings/edgar-application-programming-interfaces>. Agents and at most ten requests a second:
//! «Accessing EDGAR Data», <https://www.sec.gov/search-filings/edgar-search-assistance/accessing-edgar-data>. Both refusals
//! are pages for people with status 403, titled «Undeclared Automated Tool» and «Request Rate Threshold Exceeded».

mod builder;
mod company;
mod fact;
mod fault;
mod filing;
mod serve;
mod show;
#[cfg(test)]
mod tests;
mod twin;

pub use crate::front::{Fault, Request};
pub use builder::Builder;
pub use company::Company;
pub use fact::Fact;
pub use fault::FaultAction;
pub use filing::Filing;
pub use twin::SecTwin;
