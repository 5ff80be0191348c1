//! Facts: the figures of reports, with what was restated later.

use jiff::ToSpan;
use jiff::civil::Date;

use super::filing::Filing;
use crate::front::Dice;

/// A figure of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// `us-gaap`, `dei`, …
    pub taxonomy: String,
    /// Name within it.
    pub tag: String,
    /// `USD`, `shares`, `USD/shares`, …
    pub unit: String,
    /// First day of the period; none for an instant.
    pub start: Option<Date>,
    /// Last day of the period.
    pub end: Date,
    /// The figure exactly as it is written in JSON.
    pub value: String,
    /// Accession number of the report.
    pub accession: String,
    /// Fiscal year and period of the report, which may not be the figure's own.
    pub fiscal: (i16, String),
    /// Form of the report.
    pub form: String,
    /// Date of filing.
    pub filed: Date,
    /// The calendar frame, on the newest statement about a period alone: `CY2024Q1I`.
    pub frame: Option<String>,
}

/// What is reported: taxonomy, tag, unit, whether it covers a period, digits after the point.
const CONCEPTS: &[(&str, &str, &str, bool, u32)] = &[
    ("us-gaap", "RevenueFromContractWithCustomerExcludingAssessedTax", "USD", true, 0),
    ("us-gaap", "NetIncomeLoss", "USD", true, 0),
    ("us-gaap", "Assets", "USD", false, 0),
    ("us-gaap", "EarningsPerShareDiluted", "USD/shares", true, 2),
    ("dei", "EntityCommonStockSharesOutstanding", "shares", false, 0),
];

/// The facts of every report, in the order of filing.
pub(super) fn all(dice: Dice, filings: &[Filing]) -> Vec<Fact> {
    let reports = filings.iter().rev().filter(|filing| filing.is_xbrl && filing.fiscal.is_some());
    let mut facts: Vec<Fact> = reports.flat_map(|report| of_report(dice, report)).collect();
    give_frames(&mut facts);
    facts
}

/// Figures of the period, and those of the year before for comparison.
fn of_report(dice: Dice, report: &Filing) -> Vec<Fact> {
    let Some((fiscal, end)) = report.fiscal.clone().zip(report.report_date) else { return Vec::new() };
    let before = end.checked_sub(1.year()).unwrap_or(end).last_of_month();
    let one = |concept: &(&str, &str, &str, bool, u32), end: Date| {
        let (taxonomy, tag, unit, is_period, digits) = *concept;
        let months = if fiscal.1 == "FY" { 11 } else { 2 };
        let start = end.first_of_month().checked_sub(months.months()).unwrap_or(end);
        // An amendment says something else about the same period.
        let dice = dice.of(tag).of(&end.to_string()).of(if report.is_amendment() { "restated" } else { "" });
        Fact {
            taxonomy: taxonomy.to_owned(),
            tag: tag.to_owned(),
            unit: unit.to_owned(),
            start: is_period.then_some(start),
            end,
            value: figure(dice, digits),
            accession: report.accession.clone(),
            fiscal: fiscal.clone(),
            form: report.form.clone(),
            filed: report.filing_date,
            frame: None,
        }
    };
    CONCEPTS.iter().flat_map(|concept| [one(concept, before), one(concept, end)]).collect()
}

/// A figure with so many digits after the point; whole ones go beyond what a double holds exactly.
fn figure(dice: Dice, digits: u32) -> String {
    if digits == 0 {
        let large = if dice.of("large").percent(5) { 9_007_199_254_740_993 } else { 1_000_000 };
        return (large + dice.below(400_000_000_000)).to_string();
    }
    let (whole, part) = (dice.below(20), dice.of("part").below(100));
    let sign = if dice.of("loss").percent(20) { "-" } else { "" };
    format!("{sign}{whole}.{part:02}")
}

/// Gives the newest statement about each period its frame («EDGAR Application Programming Interfaces», frames).
fn give_frames(facts: &mut [Fact]) {
    let mut seen = std::collections::BTreeSet::new();
    for fact in facts.iter_mut().rev() {
        if seen.insert((fact.taxonomy.clone(), fact.tag.clone(), fact.unit.clone(), fact.start, fact.end)) {
            let quarter = (fact.end.month() + 2) / 3;
            let year = fact.end.year();
            let is_year =
                fact.start.is_some_and(|start| start.year() == year && fact.end.month() - start.month() > 3);
            fact.frame = Some(match (fact.start, is_year) {
                (None, _) => format!("CY{year}Q{quarter}I"),
                (Some(_), true) => format!("CY{year}"),
                (Some(_), false) => format!("CY{year}Q{quarter}"),
            });
        }
    }
}
