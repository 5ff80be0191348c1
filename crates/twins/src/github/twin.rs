//! The handle of a running twin.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::actor::Actor;
use super::builder::Builder;
use super::conversation::{Comment, Discussion, Issue};
use super::details::Details;
use super::fault::FaultAction;
use super::pull::{Pull, PullState};
use super::serve::Github;
use super::world::World;
use crate::front::{Fault, Front, Request, clock};

/// A running GitHub twin; it stops when dropped.
#[derive(Debug)]
pub struct GithubTwin {
    github: Arc<Github>,
    front: Front,
}

impl GithubTwin {
    /// Configures a twin.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(super) async fn start(builder: Builder) -> io::Result<Self> {
        let port = builder.port;
        let github = Arc::new(Github::new(World::new(builder)));
        let front = Front::start(port, Arc::clone(&github)).await?;
        Ok(Self { github, front })
    }

    /// The bound address.
    pub fn address(&self) -> SocketAddr {
        self.front.address()
    }

    /// `http://127.0.0.1:PORT`: the base of REST; GraphQL is at `/graphql` below it.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// `http://127.0.0.1:PORT/api/v3`: the base of an enterprise server; its GraphQL is at `/api/graphql`.
    pub fn enterprise_url(&self) -> String {
        format!("http://{}/api/v3", self.address())
    }

    /// Stops every task and waits for them.
    pub async fn shutdown(self) {
        self.front.shutdown().await;
    }

    /// Plans a failure. Paths are those of the reference, whatever base was asked.
    pub fn fault(&self, fault: Fault<FaultAction>) {
        self.github.faults.plan(fault);
    }

    /// Forgets every planned failure.
    pub fn clear_faults(&self) {
        self.github.faults.clear();
    }

    /// The log of requests, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.github.ledger.requests()
    }

    /// Requests whose path, as in the reference, ends like this.
    pub fn requests_to(&self, end: &str) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.route.ends_with(end)).collect()
    }

    /// Requests since the start.
    pub fn request_count(&self) -> u64 {
        self.github.ledger.count()
    }

    /// Most requests in flight at once.
    pub fn in_flight_max(&self) -> usize {
        self.github.ledger.in_flight_max()
    }

    /// Most requests in any window of this length.
    pub fn busiest(&self, window: Duration) -> usize {
        self.github.ledger.busiest(window)
    }

    /// Empties the log and its highest numbers.
    pub fn clear_requests(&self) {
        self.github.ledger.clear();
    }

    /// Waits until this many requests have arrived since the start.
    pub async fn wait_for_requests(&self, count: u64) {
        self.github.ledger.wait_for(count).await;
    }

    /// Leaves this many requests to everyone, until a reset after the window.
    pub fn leave_quota(&self, remaining: u64, window: Duration) {
        let mut world = self.github.world();
        let World { knobs, quotas, tokens, .. } = &mut *world;
        let logins: Vec<String> = tokens.values().cloned().collect();
        quotas.leave(remaining, window, knobs, clock::now_micros() / 1000, &logins);
    }

    /// Changes the time that every request takes at least.
    pub fn set_latency(&self, latency: Duration) {
        self.github.world().knobs.latency = latency;
    }

    /// A pull request and what stands behind it.
    pub fn pull(&self, repo: &str, number: u64) -> Option<(Pull, Details)> {
        let world = self.github.world();
        let repo = world.repo(repo)?;
        let pull = repo.pull(number)?;
        let details = repo.details(&pull);
        Some((pull, details))
    }

    /// Every pull request of a repository by number; what filters are checked against.
    pub fn pulls(&self, repo: &str) -> Vec<Pull> {
        let world = self.github.world();
        let Some(repo) = world.repo(repo) else { return Vec::new() };
        repo.numbers().filter_map(|number| repo.pull(number)).collect()
    }

    /// Changes a pull request; a number that does not exist is made.
    pub fn edit(&self, repo: &str, number: u64, change: impl FnOnce(&mut Pull, &mut Details)) {
        if let Some(repo) = self.github.world().repo_mut(repo) {
            repo.edit(number, change);
        }
    }

    /// Moves the head of a pull request and gives the new commit; checks and statuses begin anew.
    pub fn push(&self, repo: &str, number: u64) -> Option<String> {
        let mut world = self.github.world();
        let repo = world.repo_mut(repo)?;
        repo.push(number);
        repo.pull(number).map(|pull| pull.head_oid)
    }

    /// Merges a pull request.
    pub fn merge(&self, repo: &str, number: u64) {
        self.edit(repo, number, |pull, _| {
            pull.state = PullState::Merged;
            pull.updated_secs += 60;
        });
    }

    /// Closes a pull request without a merge.
    pub fn close(&self, repo: &str, number: u64) {
        self.edit(repo, number, |pull, _| {
            pull.state = PullState::Closed;
            pull.updated_secs += 60;
        });
    }

    /// Adds or replaces an issue.
    pub fn put_issue(&self, repo: &str, issue: Issue) {
        if let Some(repo) = self.github.world().repo_mut(repo) {
            repo.issues.insert(issue.number, issue);
        }
    }

    /// Adds or replaces a discussion.
    pub fn put_discussion(&self, repo: &str, discussion: Discussion) {
        if let Some(repo) = self.github.world().repo_mut(repo) {
            repo.discussions.insert(discussion.number, discussion);
        }
    }

    /// The conversation of an issue or pull request, oldest first.
    pub fn comments(&self, repo: &str, number: u64) -> Vec<Comment> {
        let world = self.github.world();
        world.repo(repo).and_then(|repo| repo.comments(number)).unwrap_or_default()
    }

    /// Writes a comment on an issue or pull request and gives its id.
    pub fn comment(&self, repo: &str, number: u64, author: Actor, body: &str) -> Option<u64> {
        self.github.world().repo_mut(repo)?.say(number, author, body)
    }

    /// Deletes a comment.
    pub fn delete_comment(&self, repo: &str, id: u64) {
        if let Some(repo) = self.github.world().repo_mut(repo) {
            repo.deleted_comments.insert(id);
        }
    }
}
