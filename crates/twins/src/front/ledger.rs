//! The log of what clients asked, and how much of it at once.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{Call, clock};

/// Requests kept; older ones are forgotten.
const LOG_MAX: usize = 100_000;

/// One HTTP request as it came in.
#[derive(Debug, Clone, Serialize)]
pub struct Request {
    /// Position in the log, from 1.
    pub number: u64,
    /// Arrival in Unix milliseconds.
    pub at_ms: u64,
    /// Arrival since the start of the twin, on the monotonic clock.
    pub at: Duration,
    /// HTTP method.
    pub method: String,
    /// Path as it was asked for.
    pub path: String,
    /// Path as in the provider's reference: without a base path, ids of repositories resolved to names.
    pub route: String,
    /// Query arguments in order, decoded.
    pub query: Vec<(String, String)>,
    /// Lower-case headers, without `authorization`.
    pub headers: BTreeMap<String, String>,
    /// Value of the `Authorization` header; not shown over HTTP.
    #[serde(skip)]
    pub authorization: Option<String>,
    /// Body as text.
    pub body: String,
    /// Requests in flight at its arrival, itself included.
    pub in_flight: usize,
    /// Status answered; none while it is in flight or when the connection was cut.
    pub status: Option<u16>,
}

impl Request {
    /// The first value of a query argument.
    pub fn argument(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(&name.to_ascii_lowercase()).map(String::as_str)
    }
}

#[derive(Debug, Default)]
struct Book {
    log: VecDeque<Request>,
    count: u64,
    in_flight: usize,
    in_flight_max: usize,
}

/// The log of one twin.
#[derive(Debug)]
pub(crate) struct Ledger {
    book: Mutex<Book>,
    started: Instant,
    changes: watch::Sender<u64>,
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self { book: Mutex::default(), started: Instant::now(), changes: watch::Sender::new(0) }
    }

    /// Notes an arrival; the visit ends with the answer.
    pub(crate) fn arrive(&self, call: &Call, route: &str) -> Visit<'_> {
        let mut book = self.lock();
        book.count += 1;
        book.in_flight += 1;
        book.in_flight_max = book.in_flight_max.max(book.in_flight);
        let (number, in_flight) = (book.count, book.in_flight);
        if book.log.len() == LOG_MAX {
            book.log.pop_front();
        }
        let at = self.started.elapsed();
        book.log.push_back(Request {
            number,
            at_ms: clock::now_micros() / 1000,
            at,
            method: call.method.to_string(),
            path: call.path.clone(),
            route: route.to_owned(),
            query: call.arguments(),
            headers: headers(call),
            authorization: call.header("authorization").map(str::to_owned),
            body: String::from_utf8_lossy(&call.body).into_owned(),
            in_flight,
            status: None,
        });
        drop(book);
        self.changes.send_modify(|n| *n += 1);
        Visit { ledger: self, number, in_flight, status: None }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.lock().log.iter().cloned().collect()
    }

    pub(crate) fn count(&self) -> u64 {
        self.lock().count
    }

    pub(crate) fn in_flight_max(&self) -> usize {
        self.lock().in_flight_max
    }

    /// Forgets the requests and the highest numbers.
    pub(crate) fn clear(&self) {
        let mut book = self.lock();
        book.log.clear();
        book.in_flight_max = book.in_flight;
    }

    /// The most arrivals in any window of this length, both ends included.
    pub(crate) fn busiest(&self, window: Duration) -> usize {
        busiest(self.lock().log.iter().map(|request| request.at), window)
    }

    /// Arrivals in the window that ends now.
    pub(crate) fn recent(&self, window: Duration) -> usize {
        let now = self.started.elapsed();
        self.lock().log.iter().rev().take_while(|request| now.saturating_sub(request.at) < window).count()
    }

    /// Waits until this many requests have arrived since the start.
    pub(crate) async fn wait_for(&self, count: u64) {
        // The sender lives in `self`, so waiting cannot fail.
        let _ = self.changes.subscribe().wait_for(|_| self.count() >= count).await;
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn headers(call: &Call) -> BTreeMap<String, String> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let shown = call.headers.iter().filter(|(name, _)| *name != http::header::AUTHORIZATION);
    shown.map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

/// The most of these ascending instants that lie less than a window apart.
fn busiest(instants: impl Iterator<Item = Duration>, window: Duration) -> usize {
    let (mut recent, mut most) = (VecDeque::new(), 0);
    for at in instants {
        while recent.front().is_some_and(|first| at.saturating_sub(*first) >= window) {
            recent.pop_front();
        }
        recent.push_back(at);
        most = most.max(recent.len());
    }
    most
}

/// One request under way.
#[derive(Debug)]
pub(crate) struct Visit<'a> {
    ledger: &'a Ledger,
    number: u64,
    status: Option<u16>,
    /// Requests in flight at its arrival, itself included.
    pub(crate) in_flight: usize,
}

impl Visit<'_> {
    /// Notes what was answered.
    pub(crate) fn answered(&mut self, status: u16) {
        self.status = Some(status);
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        let mut book = self.ledger.lock();
        book.in_flight = book.in_flight.saturating_sub(1);
        let number = self.number;
        if let Some(request) = book.log.iter_mut().rev().find(|request| request.number == number) {
            request.status = self.status;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_window_is_found_wherever_it_begins() {
        let at = |ms: &[u64]| ms.iter().map(|ms| Duration::from_millis(*ms)).collect::<Vec<_>>();
        let second = Duration::from_secs(1);
        assert_eq!(busiest(at(&[]).into_iter(), second), 0);
        assert_eq!(busiest(at(&[0, 900, 950, 999, 1000, 1899, 1900]).into_iter(), second), 5);
    }
}
