//! Reported figures: one concept, or all of a company read as they come.
//!
//! Source: «EDGAR Application Programming Interfaces», XBRL data,
//! <https://www.sec.gov/search-filings/edgar-application-programming-interfaces>.

mod stream;

use std::collections::BTreeMap;

use jiff::civil::Date;
use loom_domain::Result;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::client::{Sec, Seen, unreadable};
use super::output::Fact;
use super::task::FactsWanted;
use super::{decimal, names};
use crate::{Flow, Sink, SourceRef, StopReason};

/// Largest answer with all facts: 128 MiB.
const ALL_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// One concept with its facts by unit.
#[derive(Deserialize)]
pub(super) struct Concept {
    label: Option<String>,
    units: BTreeMap<String, Vec<Stated>>,
}

/// A fact as the SEC writes it. The figure keeps its text.
#[derive(Deserialize)]
struct Stated {
    start: Option<String>,
    end: String,
    val: Box<RawValue>,
    accn: String,
    fy: Option<i64>,
    fp: Option<String>,
    form: String,
    filed: String,
    frame: Option<String>,
}

impl FactsWanted {
    /// Where they are; of a company whose CIK is not known yet, in a plan.
    pub(super) fn path(&self, cik: Option<u64>) -> String {
        let cik = cik.map_or_else(|| "{cik}".to_owned(), names::padded);
        match &self.concept {
            None => format!("/api/xbrl/companyfacts/CIK{cik}.json"),
            Some((taxonomy, tag)) => format!("/api/xbrl/companyconcept/CIK{cik}/{taxonomy}/{tag}.json"),
        }
    }

    /// The facts of a concept that are wanted, in the order of their units and of the SEC.
    fn of(&self, taxonomy: &str, tag: &str, concept: Concept) -> Result<Vec<Fact>> {
        let mut facts = Vec::new();
        for (unit, stated) in concept.units {
            if self.unit.as_ref().is_some_and(|wanted| *wanted != unit) {
                continue;
            }
            for one in stated {
                let (end, filed) = (day("end", &one.end)?, day("filed", &one.filed)?);
                let value = decimal::exact(one.val.get()).ok_or_else(|| strange("val"))?;
                if self.period_from.is_some_and(|from| end < from) || self.as_of.is_some_and(|d| filed > d) {
                    continue;
                }
                facts.push(Fact {
                    taxonomy: taxonomy.to_owned(),
                    tag: tag.to_owned(),
                    label: concept.label.clone(),
                    unit: unit.clone(),
                    start: one.start,
                    end: one.end,
                    value,
                    fy: one.fy,
                    fp: one.fp,
                    form: one.form,
                    filed: one.filed,
                    frame: one.frame,
                    accession_number: one.accn,
                });
            }
        }
        Ok(facts)
    }
}

/// Gives the facts of a company that are wanted.
pub(super) async fn give(
    sec: &Sec<'_>,
    cik: u64,
    wanted: &FactsWanted,
    out: &mut dyn Sink,
) -> Result<(SourceRef, StopReason)> {
    let url = sec.data(&wanted.path(Some(cik)));
    let Some((taxonomy, tag)) = &wanted.concept else {
        let request = sec.request(&url)?.header("accept", "application/json").max_body_bytes(ALL_BYTES_MAX);
        let body = request.stream().await?;
        let seen = Seen { observed_at: sec.cx.now(), age_seconds: stream::age(&body), from_cache: false };
        let stop_reason = stream::read(body, |taxonomy, tag, concept| {
            Ok(hand_over(wanted.of(taxonomy, tag, concept)?, out))
        });
        return Ok((seen.source("sec_company_facts", &url), stop_reason.await?));
    };
    let (concept, seen): (Concept, Seen) = sec.json(&url).await?;
    let flow = hand_over(wanted.of(taxonomy, tag, concept)?, out);
    let stop_reason = if let Flow::Stop(reason) = flow { reason } else { StopReason::End };
    Ok((seen.source("sec_company_concept", &url), stop_reason))
}

fn hand_over(facts: Vec<Fact>, out: &mut dyn Sink) -> Flow {
    for fact in facts {
        if let stop @ Flow::Stop(_) = out.item(serde_json::json!(fact)) {
            return stop;
        }
    }
    Flow::Continue
}

fn day(name: &str, text: &str) -> Result<Date> {
    names::day(text).ok_or_else(|| strange(name))
}

fn strange(name: &str) -> loom_domain::Error {
    unreadable("a fact does not have the expected form").with_detail("member", name)
}
