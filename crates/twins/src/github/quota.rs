//! The primary rate limit: so many requests in a window, per account and resource.
//!
//! Source: «Rate limits for the REST API» and «Rate limits and query limits for the GraphQL API».

use std::collections::BTreeMap;
use std::time::Duration;

use super::builder::Knobs;

/// What a quota is counted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Resource {
    Core,
    Graphql,
}

impl Resource {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Graphql => "graphql",
        }
    }
}

/// A quota as the `x-ratelimit-…` headers tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rate {
    pub(super) limit: u64,
    pub(super) used: u64,
    /// End of the window in Unix seconds.
    pub(super) reset: u64,
    pub(super) resource: Resource,
}

impl Rate {
    pub(super) fn remaining(self) -> u64 {
        self.limit.saturating_sub(self.used)
    }

    pub(super) fn headers(self) -> [(&'static str, String); 5] {
        [
            ("x-ratelimit-limit", self.limit.to_string()),
            ("x-ratelimit-remaining", self.remaining().to_string()),
            ("x-ratelimit-reset", self.reset.to_string()),
            ("x-ratelimit-used", self.used.to_string()),
            ("x-ratelimit-resource", self.resource.as_str().to_owned()),
        ]
    }
}

#[derive(Debug, Clone, Copy)]
struct Window {
    used: u64,
    ends_ms: u64,
}

/// The windows of every account; no login is whoever has no token.
#[derive(Debug, Default)]
pub(super) struct Quotas(BTreeMap<(Option<String>, Resource), Window>);

impl Quotas {
    /// The quota as it stands.
    pub(super) fn rate(
        &mut self,
        login: Option<&str>,
        resource: Resource,
        knobs: &Knobs,
        now_ms: u64,
    ) -> Rate {
        let window = self.window(login, resource, knobs, now_ms);
        let (used, reset) = (window.used, window.ends_ms.div_ceil(1000));
        let limit = if login.is_some() { knobs.quota } else { knobs.quota_anonymous };
        Rate { limit, used: used.min(limit), reset, resource }
    }

    /// Counts a request.
    pub(super) fn charge(&mut self, login: Option<&str>, resource: Resource, knobs: &Knobs, now_ms: u64) {
        self.window(login, resource, knobs, now_ms).used += 1;
    }

    /// Leaves this many requests to every account, for a new window of the length.
    pub(super) fn leave(
        &mut self,
        remaining: u64,
        window: Duration,
        knobs: &Knobs,
        now_ms: u64,
        logins: &[String],
    ) {
        let ends_ms = now_ms + u64::try_from(window.as_millis()).unwrap_or(u64::MAX / 2);
        for resource in [Resource::Core, Resource::Graphql] {
            let used = knobs.quota.saturating_sub(remaining);
            for login in logins {
                self.0.insert((Some(login.clone()), resource), Window { used, ends_ms });
            }
            let used = knobs.quota_anonymous.saturating_sub(remaining);
            self.0.insert((None, resource), Window { used, ends_ms });
        }
    }

    fn window(&mut self, login: Option<&str>, resource: Resource, knobs: &Knobs, now_ms: u64) -> &mut Window {
        let length_ms = u64::try_from(knobs.quota_window.as_millis()).unwrap_or(u64::MAX / 2);
        let fresh = Window { used: 0, ends_ms: now_ms + length_ms };
        let window = self.0.entry((login.map(str::to_owned), resource)).or_insert(fresh);
        // The reset is told in whole seconds, and nothing is free before it.
        if window.ends_ms.div_ceil(1000) * 1000 <= now_ms {
            *window = fresh;
        }
        window
    }
}
