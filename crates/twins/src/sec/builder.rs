//! What a SEC twin is started with.

use std::io;
use std::time::Duration;

use super::company::Company;
use super::twin::SecTwin;

/// Start-up configuration of a twin.
#[derive(Debug, Clone)]
pub struct Builder {
    pub(super) port: u16,
    pub(super) seed: u64,
    pub(super) companies: Vec<Company>,
    pub(super) knobs: Knobs,
}

/// Lasting switches of a twin.
#[derive(Debug, Clone)]
pub(super) struct Knobs {
    pub(super) latency: Duration,
    pub(super) per_second_max: usize,
    pub(super) blocked_for: Duration,
    pub(super) recent_max: usize,
    pub(super) page_max: usize,
}

impl Default for Builder {
    /// A free port, seed 1, some well-known tickers, the SEC's own limits, no latency.
    fn default() -> Self {
        Self {
            port: 0,
            seed: 1,
            companies: Vec::new(),
            knobs: Knobs {
                latency: Duration::ZERO,
                // «Accessing EDGAR Data»: ten requests a second; a block ends ten minutes after the rate falls.
                per_second_max: 10,
                blocked_for: Duration::from_secs(600),
                // «EDGAR Application Programming Interfaces»: a thousand filings, or a year of them.
                recent_max: 1_000,
                page_max: 1_000,
            },
        }
    }
}

impl Builder {
    /// Port on 127.0.0.1; 0 takes a free one.
    pub fn port(self, port: u16) -> Self {
        Self { port, ..self }
    }

    /// Seed of every generated fact.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Adds a company beside the generated ones, or in the place of the one with its CIK.
    pub fn company(mut self, company: Company) -> Self {
        self.companies.push(company);
        self
    }

    /// Time that every request takes at least.
    pub fn latency(mut self, latency: Duration) -> Self {
        self.knobs.latency = latency;
        self
    }

    /// Requests in any second beyond which the client is blocked.
    pub fn per_second_max(mut self, requests: usize) -> Self {
        self.knobs.per_second_max = requests;
        self
    }

    /// How long a client that was too fast stays blocked.
    pub fn blocked_for(mut self, time: Duration) -> Self {
        self.knobs.blocked_for = time;
        self
    }

    /// Filings in `filings.recent`; older ones are in pages.
    pub fn recent_max(mut self, filings: usize) -> Self {
        self.knobs.recent_max = filings.max(1);
        self
    }

    /// Filings in each page of `filings.files`.
    pub fn page_max(mut self, filings: usize) -> Self {
        self.knobs.page_max = filings.max(1);
        self
    }

    /// Starts it on 127.0.0.1.
    pub async fn start(self) -> io::Result<SecTwin> {
        SecTwin::start(self).await
    }
}
