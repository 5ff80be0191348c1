//! What a GitHub twin is started with.

use std::io;
use std::time::Duration;

use super::conversation::{Discussion, Issue};
use super::twin::GithubTwin;

/// A repository to start with.
#[derive(Debug, Clone)]
pub struct Repo {
    pub(super) full_name: String,
    pub(super) private: bool,
    pub(super) open: u64,
    pub(super) closed: u64,
    pub(super) issues: Vec<Issue>,
    pub(super) discussions: Vec<Discussion>,
}

impl Repo {
    /// A public repository `OWNER/NAME` without pull requests.
    pub fn new(full_name: &str) -> Self {
        Self {
            full_name: full_name.into(),
            private: false,
            open: 0,
            closed: 0,
            issues: Vec::new(),
            discussions: Vec::new(),
        }
    }

    /// It is not there for whoever has no token.
    pub fn private(self) -> Self {
        Self { private: true, ..self }
    }

    /// This many open pull requests; numbers begin at 1.
    pub fn open_pulls(self, open: u64) -> Self {
        Self { open, ..self }
    }

    /// This many closed and merged ones, spread over the numbers.
    pub fn closed_pulls(self, closed: u64) -> Self {
        Self { closed, ..self }
    }

    /// An issue; its number must be no pull request's.
    pub fn issue(mut self, issue: Issue) -> Self {
        self.issues.push(issue);
        self
    }

    /// A discussion.
    pub fn discussion(mut self, discussion: Discussion) -> Self {
        self.discussions.push(discussion);
        self
    }
}

/// Start-up configuration of a twin.
#[derive(Debug, Clone)]
pub struct Builder {
    pub(super) port: u16,
    pub(super) seed: u64,
    pub(super) repos: Vec<Repo>,
    pub(super) tokens: Vec<(String, String)>,
    pub(super) html_base: String,
    pub(super) knobs: Knobs,
}

/// Lasting switches of a twin.
#[derive(Debug, Clone)]
pub(super) struct Knobs {
    pub(super) latency: Duration,
    pub(super) quota: u64,
    pub(super) quota_anonymous: u64,
    pub(super) quota_window: Duration,
    pub(super) in_flight_max: usize,
    pub(super) retry_after_secs: Option<u64>,
    pub(super) mergeable_after_reads: u32,
    pub(super) echo_token: bool,
}

impl Default for Builder {
    /// A free port, seed 1, no repository, no token, GitHub's own limits, no latency.
    fn default() -> Self {
        Self {
            port: 0,
            seed: 1,
            repos: Vec::new(),
            tokens: Vec::new(),
            html_base: "https://github.com".into(),
            knobs: Knobs {
                latency: Duration::ZERO,
                // «Rate limits for the REST API»: 5,000 an hour with a token, 60 without, 100 at once.
                quota: 5_000,
                quota_anonymous: 60,
                quota_window: Duration::from_hours(1),
                in_flight_max: 100,
                retry_after_secs: Some(60),
                mergeable_after_reads: 0,
                echo_token: false,
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

    /// Adds a repository.
    pub fn repo(mut self, repo: Repo) -> Self {
        self.repos.push(repo);
        self
    }

    /// Accepts a token as that of a login. A request with another token is answered 401.
    pub fn token(mut self, token: &str, login: &str) -> Self {
        self.tokens.push((token.into(), login.into()));
        self
    }

    /// Base of `html_url`; `https://github.com` unless told.
    pub fn html_base(self, html_base: &str) -> Self {
        Self { html_base: html_base.trim_end_matches('/').into(), ..self }
    }

    /// Time that every request takes at least.
    pub fn latency(mut self, latency: Duration) -> Self {
        self.knobs.latency = latency;
        self
    }

    /// Requests per window with a token, for REST and GraphQL each.
    pub fn quota(mut self, quota: u64) -> Self {
        self.knobs.quota = quota;
        self
    }

    /// Requests per window without a token.
    pub fn quota_anonymous(mut self, quota: u64) -> Self {
        self.knobs.quota_anonymous = quota;
        self
    }

    /// Length of the window of the quota; an hour unless told, and never less than a second.
    pub fn quota_window(mut self, window: Duration) -> Self {
        self.knobs.quota_window = window.max(Duration::from_secs(1));
        self
    }

    /// Requests at once beyond which a secondary limit answers.
    pub fn in_flight_max(mut self, in_flight: usize) -> Self {
        self.knobs.in_flight_max = in_flight;
        self
    }

    /// `Retry-After` of that limit; none leaves the header out.
    pub fn retry_after_secs(mut self, seconds: Option<u64>) -> Self {
        self.knobs.retry_after_secs = seconds;
        self
    }

    /// Reads of a pull request that say `mergeable: null` before the answer is there.
    pub fn mergeable_after_reads(mut self, reads: u32) -> Self {
        self.knobs.mergeable_after_reads = reads;
        self
    }

    /// Echoes the token of a request wherever a careless server could: bodies, keys, headers, error texts, links.
    pub fn echo_token(mut self) -> Self {
        self.knobs.echo_token = true;
        self
    }

    /// Starts it on 127.0.0.1.
    pub async fn start(self) -> io::Result<GithubTwin> {
        GithubTwin::start(self).await
    }
}
