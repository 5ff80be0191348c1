//! One attempt: permit, egress check, addresses, headers, exchange.

use std::time::Duration;

use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_LENGTH, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use loom_domain::Result;
use tokio::time::Instant;

use super::record::Record;
use super::{Call, Failure, Opened, Reading};
use crate::backend::{Destination, Prepared};
use crate::decode;
use crate::egress::Target;
use crate::fault::{NetworkFault, Phase, Written};
use crate::limiter::{LaneKey, Permit};
use crate::retry::Repeat;
use crate::scope::{self, Asked, Profile};
use crate::trace::Exposure;
use crate::transport::Unresolved;

const AGENT: HeaderValue = HeaderValue::from_static(concat!("loom/", env!("CARGO_PKG_VERSION")));

/// The limits of one attempt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) connect: Duration,
    pub(super) read: Duration,
    pub(super) total: Duration,
}

impl Call {
    pub(super) async fn attempt(&mut self, reading: Reading) -> Result<Opened, Failure> {
        let target = self.core().policy.check_url(&self.url, &self.spec.hosts).map_err(Failure::Refused)?;
        let lane = self.lane_of(&target);
        self.lane = Some(lane.clone());
        let core = self.core();
        let permit = core.limiter.acquire(&lane, self.deadline).await;
        let permit = permit.map_err(Failure::Refused)?;
        self.waited += permit.waited;
        self.attempts += 1;
        if self.attempts == 1 {
            self.core().budget.request(self.url.host_str().unwrap_or_default());
        }
        let mut record = Record::start(self, &target, permit.waited);
        let outcome = self.exchange(reading, &target, permit, &mut record).await;
        if let Err(failure) = &outcome {
            record.failed(failure);
            let unsent = matches!(failure, Failure::Fault(fault, _) if fault.written == Written::No);
            if !unsent && !matches!(failure, Failure::Refused(_)) {
                self.written = Written::Maybe;
            }
        } else {
            self.written = Written::Maybe;
        }
        outcome
    }

    async fn exchange(
        &self,
        reading: Reading,
        target: &Target,
        permit: Permit,
        record: &mut Record,
    ) -> Result<Opened, Failure> {
        let limits = self.limits(reading);
        let until = Instant::now() + limits.total;
        let prepared = self.prepare(target, limits).await?;
        record.sends(&prepared);
        let late = |written| Failure::Fault(NetworkFault::timeout(Phase::Total).with_written(written), None);
        let answered = tokio::time::timeout_at(until, self.core().backend.execute(prepared)).await;
        let raw = answered.map_err(|_| late(Written::Maybe))?.map_err(|fault| Failure::Fault(fault, None))?;
        record.answered(&raw);
        self.note_limits(raw.status, &raw.headers).await;
        self.deliver(reading, raw, until, permit, record).await
    }

    pub(super) async fn prepare(&self, target: &Target, limits: Limits) -> Result<Prepared, Failure> {
        let core = self.core();
        let start = Instant::now();
        let proxy =
            self.spec.proxy.as_ref().unwrap_or(&core.proxy).choose(&target.host, target.literal, target.tls);
        let named = core.settings.proxy_resolves && proxy.is_some() && target.literal.is_none();
        let addresses = if named || (target.literal.is_none() && !core.backend.resolves()) {
            Vec::new()
        } else {
            core.addresses(target, limits.connect).await.map_err(|unresolved| match unresolved {
                Unresolved::Refused(error) => Failure::Refused(error),
                Unresolved::Fault(fault) => Failure::Fault(fault, None),
            })?
        };
        let (host, port, tls) = (target.host.clone(), target.port, target.tls);
        let mut prepared = Prepared {
            method: self.spec.method.clone(),
            url: self.url.clone(),
            headers: self.headers(target),
            trace_headers: self.trace_headers(target, Exposure::Full),
            body: self.spec.body.clone(),
            destination: Destination { host, port, tls, addresses, proxy },
            connect_timeout: limits.connect.saturating_sub(start.elapsed()).max(Duration::from_millis(1)),
            read_timeout: limits.read,
            write: self.repeat != Repeat::Safe,
            credential: None,
        };
        if let Some(credential) = self.spec.credential.as_ref().filter(|c| !self.crossed && c.covers(target))
        {
            credential.inject(&mut prepared.url, &mut prepared.headers).map_err(Failure::Refused)?;
            prepared.credential = Some(credential.clone());
        }
        Ok(prepared)
    }

    fn headers(&self, target: &Target) -> HeaderMap {
        let mut headers = self.spec.headers.clone();
        headers.entry(USER_AGENT).or_insert(AGENT);
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        headers.entry(ACCEPT_ENCODING).or_insert(HeaderValue::from_static(decode::ACCEPT_ENCODING));
        let length = self.spec.body.len();
        let carries = [Method::POST, Method::PUT, Method::PATCH].contains(&self.spec.method);
        if length > 0 || carries {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        if self.crossed {
            let own: Vec<HeaderName> =
                headers.keys().filter(|name| name.as_str().starts_with("x-loom-")).cloned().collect();
            own.iter().for_each(|name| drop(headers.remove(name)));
        }
        headers.extend(self.trace_headers(target, self.exposure(target)));
        headers
    }

    /// Which tracing headers the host of this hop gets: after a redirect from elsewhere Loom's own are not among them.
    pub(super) fn exposure(&self, target: &Target) -> Exposure {
        match self.core().exposure(target) {
            Exposure::Full if self.crossed => Exposure::Outer,
            exposure => exposure,
        }
    }

    fn trace_headers(&self, target: &Target, exposure: Exposure) -> HeaderMap {
        let core = self.core();
        self.trace.headers(exposure, &self.trace.outer_id(&core.key, &target.host), &*core.entropy)
    }

    pub(super) fn limits(&self, reading: Reading) -> Limits {
        let spec = &self.spec;
        let left = self.deadline.saturating_duration_since(Instant::now());
        // A download may take as long as the whole call; silence still ends it.
        let usual = if reading == Reading::AsItComes { left } else { spec.total_timeout };
        let total = spec.timeout.unwrap_or(usual).min(left);
        Limits { connect: spec.connect_timeout.min(total), read: spec.read_timeout.min(total), total }
    }

    pub(super) fn lane_of(&self, target: &Target) -> LaneKey {
        let core = self.core();
        let spec = &self.spec;
        let profile = Profile::of(spec.scope.as_deref(), target);
        let asked = Asked {
            method: &spec.method,
            path: self.url.path(),
            publishes: spec.publish,
            chat: spec.chat.as_deref(),
            rate: spec.rate,
        };
        let named = profile.scope().or(spec.scope.as_deref()).map(str::to_owned);
        // All requests to the SEC count together, whoever makes them.
        let credential = spec.credential.as_ref().filter(|_| profile != Profile::Sec);
        LaneKey {
            profile,
            scope: named.unwrap_or_else(|| target.authority()),
            fingerprint: credential.map(|c| c.fingerprint(&core.key)).unwrap_or_default(),
            pace: scope::pace(profile, &core.settings.rates, target.local && target.is_loopback(), asked),
        }
    }
}
