//! A company that files.

use super::fact::{self, Fact};
use super::filing::{self, Filing};
use crate::front::Dice;

/// A company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Company {
    /// Central Index Key.
    pub cik: u64,
    /// Tickers with their exchanges; the first is the one document names are made of.
    pub tickers: Vec<(String, String)>,
    /// Name.
    pub name: String,
    /// Standard Industrial Classification code and its description.
    pub sic: (String, String),
    /// End of the fiscal year, `MMDD`.
    pub fiscal_year_end: String,
    /// Former names with the first and last instant of their use.
    pub former_names: Vec<(String, String, String)>,
    /// Whether `acceptanceDateTime` is the clock of New York with a `Z` that is not true, as measured for 181 of 808
    /// large filers (<https://github.com/theOGognf/finagg/issues/64>); it is UTC for the others.
    pub stamps_new_york: bool,
    /// Filings, newest first.
    pub filings: Vec<Filing>,
    /// Facts, in the order of their filing.
    pub facts: Vec<Fact>,
}

/// Companies of every twin: CIK, tickers, name, SIC code and description.
const KNOWN: &[(u64, &[&str], &str, &str, &str)] = &[
    (320_193, &["AAPL"], "Apple Inc.", "3571", "Electronic Computers"),
    (1_067_983, &["BRK-B", "BRK-A"], "BERKSHIRE HATHAWAY INC", "6331", "Fire, Marine & Casualty Insurance"),
    (789_019, &["MSFT"], "MICROSOFT CORP", "7372", "Services-Prepackaged Software"),
    (51_143, &["IBM"], "INTERNATIONAL BUSINESS MACHINES CORP", "3570", "Computer & Office Equipment"),
    (40_545, &["GE"], "GENERAL ELECTRIC CO", "3600", "Electronic & Other Electrical Equipment"),
];

impl Company {
    /// A company without filings.
    pub fn new(cik: u64, ticker: &str, name: &str) -> Self {
        Self {
            cik,
            tickers: vec![(ticker.into(), "NYSE".into())],
            name: name.into(),
            sic: ("7372".into(), "Services-Prepackaged Software".into()),
            fiscal_year_end: "1231".into(),
            former_names: Vec::new(),
            stamps_new_york: false,
            filings: Vec::new(),
            facts: Vec::new(),
        }
    }

    /// The same company with filings from 2005 to 2025 and their facts.
    pub fn generated(mut self, seed: u64) -> Self {
        let dice = Dice::new(seed).of("sec").at(self.cik);
        self.filings = filing::history(dice.of("filings"), self.cik, &self.ticker().to_ascii_lowercase());
        self.facts = fact::all(dice.of("facts"), &self.filings);
        self
    }

    /// The CIK with its ten digits.
    pub fn cik_padded(&self) -> String {
        format!("{:010}", self.cik)
    }

    /// The first ticker.
    pub fn ticker(&self) -> &str {
        self.tickers.first().map_or("none", |(ticker, _)| ticker)
    }
}

/// The companies of every twin.
pub(super) fn known(seed: u64) -> Vec<Company> {
    let make = |(cik, tickers, name, sic, about): &(u64, &[&str], &str, &str, &str)| {
        let mut company = Company::new(*cik, "", name);
        company.tickers = tickers.iter().map(|ticker| ((*ticker).to_owned(), "NYSE".to_owned())).collect();
        company.sic = ((*sic).to_owned(), (*about).to_owned());
        let [from, to] = ["1990-01-01T00:00:00.000Z", "2004-05-07T00:00:00.000Z"].map(str::to_owned);
        company.former_names = vec![(format!("{name} OLD"), from, to)];
        company.stamps_new_york = *cik == 40_545;
        company.generated(seed)
    };
    KNOWN.iter().map(make).collect()
}
