//! One call: its hops, attempts, waits and the words for its end.

mod attempt;
mod deliver;
mod limits;
mod record;
mod verdict;
pub(crate) mod websocket;

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use loom_domain::{Code, Error, EventId, Result};
use tokio::time::Instant;
use url::Url;

use crate::clock::fraction;
use crate::credential::Place;
use crate::egress::{parse_url, without_query};
use crate::fault::{NetworkFault, Written, stamp};
use crate::limiter::LaneKey;
use crate::request::{Spec, Throttles};
use crate::response::{Meta, RateState, Response};
use crate::retry::{self, Repeat, Verdict};
use crate::stream::ByteStream;
use crate::trace::Trace;
use crate::transport::{Core, Transport};

/// Most redirects that can be asked for.
pub(crate) const REDIRECTS_MAX: u32 = 10;

/// What a call opened.
#[derive(Debug)]
pub(crate) enum Opened {
    /// An answer that was read to its end.
    Whole(Box<Response>),
    /// A 2xx answer whose body is still to come.
    Stream(Box<ByteStream>),
}

/// Whether the body is read inside the attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    Whole,
    AsItComes,
}

/// Why an attempt gave no answer.
#[derive(Debug)]
enum Failure {
    /// Refused here, before anything was opened.
    Refused(Error),
    /// Failed on the wire, perhaps after this status was read.
    Fault(NetworkFault, Option<u16>),
}

/// A call in progress.
#[derive(Debug)]
pub(crate) struct Call {
    transport: Transport,
    spec: Spec,
    url: Url,
    trace: Arc<Trace>,
    repeat: Repeat,
    started: Instant,
    deadline: Instant,
    waited: Duration,
    attempts: u32,
    written: Written,
    lane: Option<LaneKey>,
    crossed: bool,
}

impl Call {
    /// Checks everything that can be checked without a socket.
    pub(crate) fn begin(transport: Transport, spec: Spec) -> Result<Call> {
        let mut url = parse_url(&spec.url)?;
        if !spec.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&spec.query);
            url = parse_url(url.as_str())?;
        }
        let core = transport.core();
        if spec.body.memory_len() > core.settings.request_bytes_max {
            return Err(
                Error::new(Code::InvalidInput, "the request body is too large").with_detail("pointer", "")
            );
        }
        let id = EventId::new(core.clock.now().0, core.entropy.bits());
        let trace = Trace::complete(spec.context.clone(), id.to_string(), &*core.entropy);
        let started = Instant::now();
        Ok(Call {
            repeat: retry::repeat_of(&spec.method, spec.idempotent, spec.publish),
            url,
            trace: Arc::new(trace),
            started,
            deadline: started + spec.deadline,
            waited: Duration::ZERO,
            attempts: 0,
            written: Written::No,
            lane: None,
            crossed: false,
            transport,
            spec,
        })
    }

    /// The whole answer, whatever its status.
    pub(crate) async fn answer(&mut self) -> Result<Response> {
        match self.hops(Reading::Whole).await? {
            Opened::Whole(response) => Ok(*response),
            Opened::Stream(_) => Err(self.finish(Error::internal("a whole answer was asked for"))),
        }
    }

    /// The body of a 2xx answer as it comes, or the whole of another one.
    pub(crate) async fn open(&mut self) -> Result<Opened> {
        self.hops(Reading::AsItComes).await
    }

    async fn hops(&mut self, reading: Reading) -> Result<Opened> {
        let mut left = if self.follows() { self.spec.redirects } else { 0 };
        loop {
            let opened = self.attempts(reading).await?;
            let Opened::Whole(response) = &opened else { return Ok(opened) };
            if left == 0 || !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
                return Ok(opened);
            }
            left -= 1;
            let next = self.next_hop(response)?;
            // What was meant for the first origin alone goes to no other, nor back to it by way of another.
            self.crossed |= next.origin() != self.url.origin();
            self.url = next;
        }
    }

    fn follows(&self) -> bool {
        self.spec.method == Method::GET || self.spec.method == Method::HEAD
    }

    fn next_hop(&self, response: &Response) -> Result<Url> {
        let refuse = |why: &str| self.finish(Error::new(Code::ProviderRedirectRefused, why));
        let location = response.header("location").ok_or_else(|| refuse("the redirect has no location"))?;
        let next =
            self.url.join(location).map_err(|_| refuse("the location of the redirect is not a URL"))?;
        if self.url.scheme() == "https" && next.scheme() != "https" {
            return Err(refuse("a redirect from https to another scheme is refused"));
        }
        let mut next = parse_url(next.as_str())?;
        // A provider may echo the query; the credential in it is added anew where it belongs.
        if let Some(Place::Query(name)) = self.spec.credential.as_ref().map(|credential| &credential.place) {
            without_query(&mut next, name);
        }
        Ok(next)
    }

    async fn attempts(&mut self, reading: Reading) -> Result<Opened> {
        loop {
            let outcome = self.attempt(reading).await;
            let verdict = retry::decide(self.repeat, self.ending(&outcome));
            match verdict {
                Verdict::Unknown => return Err(self.unknown(outcome)),
                Verdict::Stop => return self.settle(outcome),
                Verdict::Wait if self.spec.throttles == Throttles::HandedOn => return self.settle(outcome),
                Verdict::Retry | Verdict::Wait => {
                    let Some(delay) = self.delay_before_next(&outcome) else { return self.settle(outcome) };
                    tokio::time::sleep(delay).await;
                    self.waited += delay;
                }
            }
        }
    }

    /// How long to wait, if another attempt may be made.
    fn delay_before_next(&self, outcome: &Result<Opened, Failure>) -> Option<Duration> {
        let core = self.core();
        let computed = retry::delay(self.attempts, fraction(core.entropy.bits()));
        let asked = match outcome {
            Ok(Opened::Whole(response)) => self.asked_wait(response),
            _ => None,
        };
        let delay = asked.unwrap_or(computed);
        let left = self.deadline.saturating_duration_since(Instant::now());
        let may = self.attempts < self.spec.attempts && delay <= retry::RETRY_AFTER_MAX && delay < left;
        let host = self.url.host_str().unwrap_or_default();
        (may && core.budget.retry(host)).then_some(delay)
    }

    fn meta(&self, rate: Option<RateState>) -> Meta {
        Meta {
            request_id: self.trace.request_id.clone(),
            attempts: self.attempts,
            from_cache: false,
            final_url: self.url.to_string(),
            elapsed_ms: millis(self.started.elapsed()),
            waited_ms: millis(self.waited),
            rate,
        }
    }

    fn core(&self) -> &Core {
        self.transport.core()
    }

    /// Adds what every error of this call carries.
    fn finish(&self, mut error: Error) -> Error {
        error.request_id = Some(self.trace.request_id.clone());
        error.provider.clone_from(&self.spec.provider);
        error.operation.clone_from(&self.spec.operation);
        error.attempts = Some(self.attempts);
        stamp(error, self.written)
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
