//! The same questions from programs: each is a run of the connector, and gives its typed answer.
//!
//! All calls of a process share one window of eight requests a second and one list of tickers. The contact comes out
//! of the question, else out of `LOOM_SEC_CONTACT`; another base URL out of it, else out of `LOOM_SEC_API_URL`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use loom_domain::{Error, Result};
use loom_transport::{Transport, TransportBuilder, default_transport};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::client::unreadable;
use super::{Company, Fact, Filing, FinanceProbe, Query};
use crate::{NoObserver, Payload, RunRequest, RunSettings, World};

/// Most base URLs whose transports are kept.
const ORIGINS_MAX: usize = 16;

/// The newest annual or quarterly report of a company (10-K, 10-Q, 20-F, 40-F, and their amendments).
///
/// # Errors
/// `contact_required` without a contact, before any socket; `unknown_ticker`; `no_matching_filing`; and those of
/// requests, such as `provider_rate_limited` with `retry_after_ms`.
pub async fn fetch_filing(ticker: &str) -> Result<Filing> {
    fetch_filing_with(Query::ticker(ticker)).await
}

/// The newest filing that fits; its document too, if the question wants it. Errors as of [`fetch_filing`].
pub async fn fetch_filing_with(query: Query) -> Result<Filing> {
    let filings: Vec<Filing> = items(ask("filing", query).await?)?;
    filings.into_iter().next().ok_or_else(|| unreadable("the filing does not have the declared form"))
}

/// The same as [`fetch_filing`].
pub async fn filing(ticker: &str) -> Result<Filing> {
    fetch_filing(ticker).await
}

/// The same as [`fetch_filing_with`].
pub async fn filing_with(query: Query) -> Result<Filing> {
    fetch_filing_with(query).await
}

/// What a company is. Errors as of [`fetch_filing`].
pub async fn company(ticker: &str) -> Result<Company> {
    company_with(Query::ticker(ticker)).await
}

/// What a company is.
pub async fn company_with(query: Query) -> Result<Company> {
    typed(ask("company", query).await?.fields)
}

/// The fifty newest filings of a company, newest acceptance first. Errors as of [`fetch_filing`].
pub async fn filings(ticker: &str) -> Result<Vec<Filing>> {
    filings_with(Query::ticker(ticker)).await
}

/// The filings that fit, newest acceptance first, at most as many as the question says; none is an empty list.
pub async fn filings_with(query: Query) -> Result<Vec<Filing>> {
    items(ask("filings", query).await?)
}

/// Every reported figure of a company, at most 200,000. Errors as of [`fetch_filing`].
pub async fn facts(ticker: &str) -> Result<Vec<Fact>> {
    facts_with(Query::ticker(ticker)).await
}

/// The figures that fit, in the order of the SEC.
pub async fn facts_with(query: Query) -> Result<Vec<Fact>> {
    items(ask("facts", query).await?)
}

async fn ask(operation: &str, query: Query) -> Result<Payload> {
    let settings = RunSettings { api_url: query.api_url.clone(), ..RunSettings::default() };
    let input = serde_json::to_value(&query).map_err(Error::internal)?;
    let request = RunRequest { operation: operation.to_owned(), input, settings, ..RunRequest::default() };
    let payload = crate::run(world(), &FinanceProbe::new(), request, None, &mut NoObserver).await?;
    match payload.error {
        Some(error) => Err(error),
        None => Ok(payload),
    }
}

fn items<T: DeserializeOwned>(payload: Payload) -> Result<Vec<T>> {
    payload.items.into_iter().map(typed).collect()
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T> {
    serde_json::from_value(value).map_err(|_| unreadable("the answer does not have the declared form"))
}

/// The world of all calls: over the transport of the process, or one more for each base URL in its place.
fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let made: Mutex<BTreeMap<Vec<String>, Transport>> = Mutex::default();
        let mut world = World::of_process();
        world.door = Arc::new(move |_, origins| {
            if origins.is_empty() {
                return default_transport();
            }
            let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(transport) = made.get(origins) {
                return Ok(transport.clone());
            }
            if made.len() >= ORIGINS_MAX {
                made.pop_first();
            }
            let builder =
                TransportBuilder::from_environment(&std::env::vars_os().filter_map(text).collect())?;
            let transport =
                origins.iter().fold(builder, |builder, origin| builder.local_origin(origin)).build()?;
            made.insert(origins.to_vec(), transport.clone());
            Ok(transport)
        });
        world
    })
}

fn text((name, value): (std::ffi::OsString, std::ffi::OsString)) -> Option<(String, String)> {
    Some((name.into_string().ok()?, value.into_string().ok()?))
}
