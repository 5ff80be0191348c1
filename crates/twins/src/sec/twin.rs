//! The handle of a running twin.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::builder::Builder;
use super::company::Company;
use super::fault::FaultAction;
use super::serve::{Edgar, SECOND, World};
use crate::front::{Fault, Front, Request};

/// A running SEC twin; it stops when dropped.
#[derive(Debug)]
pub struct SecTwin {
    edgar: Arc<Edgar>,
    front: Front,
}

impl SecTwin {
    /// Configures a twin.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(super) async fn start(builder: Builder) -> io::Result<Self> {
        let port = builder.port;
        let edgar = Arc::new(Edgar::new(World::new(builder)));
        let front = Front::start(port, Arc::clone(&edgar)).await?;
        Ok(Self { edgar, front })
    }

    /// The bound address.
    pub fn address(&self) -> SocketAddr {
        self.front.address()
    }

    /// `http://127.0.0.1:PORT`: the base of both hosts of the SEC.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Stops every task and waits for them.
    pub async fn shutdown(self) {
        self.front.shutdown().await;
    }

    /// Plans a failure.
    pub fn fault(&self, fault: Fault<FaultAction>) {
        self.edgar.faults.plan(fault);
    }

    /// Forgets every planned failure.
    pub fn clear_faults(&self) {
        self.edgar.faults.clear();
    }

    /// The log of requests, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.edgar.ledger.requests()
    }

    /// Requests whose path ends like this.
    pub fn requests_to(&self, end: &str) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.path.ends_with(end)).collect()
    }

    /// Requests since the start.
    pub fn request_count(&self) -> u64 {
        self.edgar.ledger.count()
    }

    /// Empties the log and its highest numbers.
    pub fn clear_requests(&self) {
        self.edgar.ledger.clear();
    }

    /// Waits until this many requests have arrived since the start.
    pub async fn wait_for_requests(&self, count: u64) {
        self.edgar.ledger.wait_for(count).await;
    }

    /// Most requests in any window of 1,000 ms.
    pub fn busiest_second(&self) -> usize {
        self.edgar.ledger.busiest(SECOND)
    }

    /// Most requests in any window of this length.
    pub fn busiest(&self, window: Duration) -> usize {
        self.edgar.ledger.busiest(window)
    }

    /// Most requests in flight at once.
    pub fn in_flight_max(&self) -> usize {
        self.edgar.ledger.in_flight_max()
    }

    /// Whether a client was ever faster than allowed.
    pub fn rate_exceeded(&self) -> bool {
        self.edgar.world().blocked > 0
    }

    /// Forgets that a client was too fast.
    pub fn unblock(&self) {
        self.edgar.world().unblock();
    }

    /// A company by any of its tickers.
    pub fn company(&self, ticker: &str) -> Option<Company> {
        let world = self.edgar.world();
        let has =
            |company: &&Company| company.tickers.iter().any(|(known, _)| known.eq_ignore_ascii_case(ticker));
        world.companies.iter().find(has).cloned()
    }

    /// Changes a company.
    pub fn edit(&self, cik: u64, change: impl FnOnce(&mut Company)) {
        if let Some(company) = self.edgar.world().companies.iter_mut().find(|company| company.cik == cik) {
            change(company);
        }
    }
}
