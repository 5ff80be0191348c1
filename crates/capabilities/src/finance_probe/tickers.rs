//! Tickers and the companies behind them: `company_tickers.json`, kept for a day.

use std::collections::BTreeMap;

use loom_domain::{Code, Error, Result, Timestamp};
use serde::{Deserialize, Serialize};

use super::client::{Sec, Seen, unreadable};
use crate::SourceRef;

pub(super) const PATH: &str = "/files/company_tickers.json";
/// How long the list is fresh.
const FRESH_MS: i64 = 24 * 3_600_000;
/// Most tickers of the list.
const TICKERS_MAX: usize = 200_000;
/// Tickers that are named for an unknown one.
const NEAREST_MAX: usize = 5;

/// A row of the list.
#[derive(Deserialize)]
struct Row {
    cik_str: u64,
    ticker: String,
}

/// The list as this process keeps it.
#[derive(Serialize, Deserialize)]
struct Kept {
    read_at: i64,
    ciks: BTreeMap<String, u64>,
}

/// The CIK of a ticker.
pub(super) async fn find(sec: &Sec<'_>, ticker: &str) -> Result<(u64, SourceRef)> {
    let url = sec.www(PATH);
    let (ciks, seen) = list(sec, &url).await?;
    match ciks.get(ticker) {
        Some(cik) => Ok((*cik, seen.source("sec_company_tickers", &url))),
        None => Err(Error::new(Code::UnknownTicker, format!("the SEC lists no ticker {ticker}"))
            .with_detail("nearest", nearest(ticker, &ciks))),
    }
}

async fn list(sec: &Sec<'_>, url: &str) -> Result<(BTreeMap<String, u64>, Seen)> {
    let name = format!("finance_probe/{url}");
    let now = sec.cx.now();
    let kept = sec
        .cx
        .scratch()
        .get(&name)
        .filter(|_| sec.cx.reads_stored())
        .and_then(|kept| serde_json::from_value::<Kept>(kept).ok());
    if let Some(kept) = kept.filter(|kept| (0..FRESH_MS).contains(&(now.0 - kept.read_at))) {
        let age_seconds = u64::try_from((now.0 - kept.read_at) / 1_000).unwrap_or(0);
        let seen = Seen { observed_at: Timestamp(kept.read_at), age_seconds, from_cache: true };
        return Ok((kept.ciks, seen));
    }
    let (rows, seen): (BTreeMap<String, Row>, Seen) = sec.json(url).await?;
    if rows.len() > TICKERS_MAX {
        return Err(unreadable("the list of tickers is too long"));
    }
    let ciks = rows.into_values().map(|row| (row.ticker.to_uppercase(), row.cik_str)).collect();
    let kept = Kept { read_at: seen.observed_at.0, ciks };
    if let Ok(value) = serde_json::to_value(&kept) {
        sec.cx.scratch().put(&name, value);
    }
    Ok((kept.ciks, seen))
}

/// The tickers with the fewest letters changed.
fn nearest(ticker: &str, ciks: &BTreeMap<String, u64>) -> Vec<String> {
    let mut near: Vec<(usize, &String)> =
        ciks.keys().map(|known| (loom_domain::text::edit_distance(ticker, known), known)).collect();
    near.sort();
    near.into_iter().take(NEAREST_MAX).map(|(_, known)| known.clone()).collect()
}
