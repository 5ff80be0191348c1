//! What an answer says about limits, and what that means for its scope.

use std::time::Duration;

use http::HeaderMap;

use super::Call;
use crate::request::Throttles;
use crate::response::{RateState, Response};
use crate::retry::throttle::{self, Throttle};
use crate::scope::Profile;

/// Header in which GitHub names the limit a request counted against.
const RESOURCE: &str = "x-ratelimit-resource";

impl Call {
    /// Pauses the scope of a throttled request, so that nobody else opens a socket in vain, and keeps the reserve.
    pub(super) async fn note_limits(&self, status: u16, headers: &HeaderMap) {
        let Some(lane) = &self.lane else { return };
        let core = self.core();
        if lane.profile == Profile::Github
            && let Some(wait) = RateState::read(headers).and_then(|rate| {
                throttle::reserve(&rate, core.settings.rates.github_reserve, core.clock.now())
            })
        {
            let resource = headers.get(RESOURCE).and_then(|value| value.to_str().ok());
            core.limiter.reserve(lane, resource.unwrap_or(lane.pace.resource), wait);
        }
        if self.keeps_own_pace() {
            return;
        }
        match self.throttle(status, headers) {
            Some(throttle) if lane.profile == Profile::Sec => {
                core.limiter.pause_sec(lane, throttle.asked).await;
            }
            Some(throttle) => core.limiter.pause(lane, throttle.wait()),
            None if (200..300).contains(&status) => core.limiter.accepted(lane),
            None => {}
        }
    }

    /// Whether the provider refused before acting because of its limit.
    pub(super) fn throttle(&self, status: u16, headers: &HeaderMap) -> Option<Throttle> {
        let profile = self.lane.as_ref().map_or(Profile::Host, |lane| lane.profile);
        throttle::read(profile, status, headers, self.core().clock.now())
    }

    fn keeps_own_pace(&self) -> bool {
        self.spec.throttles == Throttles::OfTheCaller
    }

    /// The wait that the provider, or the pause of the scope, asks for.
    pub(super) fn asked_wait(&self, response: &Response) -> Option<Duration> {
        let Some(throttle) = self.throttle(response.status, &response.headers) else {
            return throttle::retry_after(&response.headers, self.core().clock.now());
        };
        let lane = self.lane.as_ref().filter(|_| !self.keeps_own_pace());
        lane.and_then(|lane| self.core().limiter.pause_left(lane)).or_else(|| Some(throttle.wait()))
    }
}
