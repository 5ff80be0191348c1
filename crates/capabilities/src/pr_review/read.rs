//! What is read of one pull request beside the list: each part alone, so that one that fails spoils no other.

use std::collections::HashMap;
use std::future::Future;
use std::time::Duration;

use loom_domain::{Code, Error, Result};
use serde_json::{Value, json};

use super::checks::{CheckState, roll_up};
use super::input::Detail;
use super::output::{Checks, Merge, Reviews, Size, Threads};
use super::pull::{self, Pull, Whole};
use super::reviews::{self, Review};
use super::threads::{self, Inline};
use super::{checks, output};
use crate::github::{Reader, RepoName};

/// Pages of 100 that are read of one list of one pull request; one that is longer counts as not read.
const PAGES_MAX: u32 = 10;
/// Pages of 50 threads that are asked for.
const THREAD_PAGES_MAX: u32 = 20;
/// Waits before mergeability is read again: the first read starts the work («Get a pull request», `mergeable`).
const MERGEABLE_AFTER: [Duration; 3] =
    [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];
/// Constant: whatever a name holds, it stands in the variables.
const THREADS: &str = "query($owner:String!,$name:String!,$number:Int!,$after:String){repository(owner:$owner,name:$name){\
pullRequest(number:$number){reviewThreads(first:50,after:$after){pageInfo{hasNextPage endCursor} nodes{isResolved \
comments(first:1){nodes{fullDatabaseId}}}}}}}";

/// Which parts are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "it is a set of four")]
pub(super) struct Parts {
    pub(super) whole: bool,
    pub(super) reviews: bool,
    pub(super) checks: bool,
    pub(super) threads: bool,
}

impl Parts {
    /// What a level of detail reads.
    pub(super) fn of(detail: Detail) -> Self {
        let standard = detail >= Detail::Standard;
        Parts { whole: standard, reviews: standard, checks: standard, threads: detail == Detail::Full }
    }

    /// Those that are not among others.
    pub(super) fn without(self, others: Parts) -> Self {
        Parts {
            whole: self.whole && !others.whole,
            reviews: self.reviews && !others.reviews,
            checks: self.checks && !others.checks,
            threads: self.threads && !others.threads,
        }
    }
}

/// One part.
#[derive(Debug, Default)]
pub(super) enum Part<T> {
    #[default]
    Unread,
    Failed,
    Read(T),
}

impl<T> Part<T> {
    fn read(&self) -> Option<&T> {
        match self {
            Part::Read(value) => Some(value),
            Part::Unread | Part::Failed => None,
        }
    }

    fn into_read(self) -> Option<T> {
        match self {
            Part::Read(value) => Some(value),
            Part::Unread | Part::Failed => None,
        }
    }

    fn has_failed(&self) -> bool {
        matches!(self, Part::Failed)
    }

    fn was_asked(&self) -> bool {
        !matches!(self, Part::Unread)
    }
}

/// The parts of one pull request.
#[derive(Debug, Default)]
pub(super) struct Details {
    whole: Part<Whole>,
    reviews: Part<Vec<Review>>,
    runs: Part<Vec<checks::Run>>,
    statuses: Part<Vec<checks::Status>>,
    inline: Part<Vec<Inline>>,
    resolved: Part<HashMap<u64, bool>>,
}

impl Details {
    /// Size, when it is known.
    pub(super) fn size(&self) -> Option<Size> {
        let whole = self.whole.read()?;
        let (files, commits) = (whole.files, whole.commits);
        Some(Size { files, additions: whole.additions, deletions: whole.deletions, commits })
    }

    /// Mergeability, when it was read. A conflict is told by either of GitHub's two fields.
    pub(super) fn merge(&self) -> Option<Merge> {
        let whole = self.whole.read()?;
        let state = match whole.mergeable_state.as_str() {
            "clean" | "has_hooks" => "clean",
            "dirty" => "conflicting",
            "blocked" => "blocked",
            "behind" => "behind",
            "unstable" => "unstable",
            "draft" => "draft",
            _ => "unknown",
        };
        let mergeable = match whole.mergeable {
            Some(true) => "yes",
            Some(false) => "no",
            None => "unknown",
        };
        Some(Merge { mergeable, state })
    }

    /// Reviews of the head, when they were read.
    pub(super) fn reviews(&self, pull: &Pull) -> Option<Reviews> {
        let reviews = self.reviews.read()?;
        Some(reviews::decide(reviews, &pull.head.oid, pull.asks_for_review()))
    }

    /// State of the checks, when they were asked for.
    pub(super) fn check_state(&self) -> Option<CheckState> {
        if !(self.runs.was_asked() || self.statuses.was_asked()) {
            return None;
        }
        Some(roll_up(self.runs.read().cloned(), self.statuses.read().cloned()).state)
    }

    /// The checks, when they were asked for.
    pub(super) fn checks(&mut self) -> Option<Checks> {
        if !(self.runs.was_asked() || self.statuses.was_asked()) {
            return None;
        }
        let (runs, statuses) = (std::mem::take(&mut self.runs), std::mem::take(&mut self.statuses));
        Some(roll_up(runs.into_read(), statuses.into_read()))
    }

    /// The threads, when they were read.
    pub(super) fn threads(&mut self, head: &str, with_bodies: bool) -> Option<Threads> {
        let inline = std::mem::take(&mut self.inline).into_read()?;
        Some(threads::group(inline, self.resolved.read(), head, with_bodies))
    }

    /// The parts that could not be read.
    pub(super) fn partial(&self) -> Vec<&'static str> {
        let failed = [
            ("pull", self.whole.has_failed()),
            ("reviews", self.reviews.has_failed()),
            ("checks", self.runs.has_failed() || self.statuses.has_failed()),
            ("threads", self.inline.has_failed() || self.resolved.has_failed()),
        ];
        failed.into_iter().filter_map(|(name, has_failed)| has_failed.then_some(name)).collect()
    }
}

/// Reads parts into what was read before.
pub(super) async fn read(
    reader: &Reader<'_>,
    repo: &RepoName,
    pull: &Pull,
    parts: Parts,
    details: &mut Details,
) -> Result<()> {
    let path = format!("{}/pulls/{}", repo.api_path(), pull.number);
    // All at once: requests take their turn in the order in which they are asked for, so that those of one pull request
    // stand together and the first items leave early.
    let (mut seen, mut said) = (Details::default(), Details::default());
    let whole = when(parts.whole, settled(reader, &path, !pull.closed));
    let reviews = when(parts.reviews, reviews_of(reader, &path));
    let checks = async {
        match parts.checks {
            true => read_checks(reader, repo, &pull.head.oid, &mut seen).await,
            false => Ok(()),
        }
    };
    let threads = async {
        match parts.threads {
            true => read_threads(reader, repo, pull.number, &mut said).await,
            false => Ok(()),
        }
    };
    let (whole, reviews, (), ()) = futures_util::future::try_join4(
        Box::pin(whole),
        Box::pin(reviews),
        Box::pin(checks),
        Box::pin(threads),
    )
    .await?;
    put(&mut details.whole, whole);
    put(&mut details.reviews, reviews);
    put(&mut details.runs, seen.runs);
    put(&mut details.statuses, seen.statuses);
    put(&mut details.inline, said.inline);
    put(&mut details.resolved, said.resolved);
    Ok(())
}

/// Reads what machines say about a commit.
pub(super) async fn read_checks(
    reader: &Reader<'_>,
    repo: &RepoName,
    oid: &str,
    details: &mut Details,
) -> Result<()> {
    let path = format!("{}/commits/{oid}", repo.api_path());
    let first = reader.url(&format!("{path}/check-runs?filter=latest&per_page=100"));
    let runs =
        when(true, async { whole_list(reader.read_all(first, pull::RUNS, PAGES_MAX, pull::runs).await?) });
    let first = reader.url(&format!("{path}/status?per_page=100"));
    let statuses = when(true, async {
        whole_list(reader.read_all(first, pull::STATUSES, PAGES_MAX, pull::statuses).await?)
    });
    let (runs, statuses) = futures_util::future::try_join(Box::pin(runs), Box::pin(statuses)).await?;
    (details.runs, details.statuses) = (runs, statuses);
    Ok(())
}

/// Reads the inline comments, and which threads are resolved.
pub(super) async fn read_threads(
    reader: &Reader<'_>,
    repo: &RepoName,
    number: u64,
    details: &mut Details,
) -> Result<()> {
    let first = reader.url(&format!("{}/pulls/{number}/comments?per_page=100", repo.api_path()));
    let inline = when(true, async {
        whole_list(reader.read_all(first, pull::INLINE, PAGES_MAX, pull::inline).await?)
    });
    // GraphQL takes no request without a token; then the resolution stays unknown.
    let resolved = when(reader.has_token(), resolution(reader, repo, number));
    let (inline, resolved) = futures_util::future::try_join(Box::pin(inline), Box::pin(resolved)).await?;
    (details.inline, details.resolved) = (inline, resolved);
    Ok(())
}

/// One pull request, read again while GitHub still works out whether it can be merged.
async fn settled(reader: &Reader<'_>, path: &str, is_open: bool) -> Result<Whole> {
    let url = reader.url(path);
    let mut whole = reader.read(&url, pull::WHOLE, pull::whole).await?.value;
    for wait in MERGEABLE_AFTER {
        if whole.mergeable.is_some() || !is_open {
            break;
        }
        tokio::time::sleep(wait).await;
        whole = reader.read(&url, pull::WHOLE, pull::whole).await?.value;
    }
    Ok(whole)
}

async fn reviews_of(reader: &Reader<'_>, path: &str) -> Result<Vec<Review>> {
    let first = reader.url(&format!("{path}/reviews?per_page=100"));
    whole_list(reader.read_all(first, pull::REVIEWS, PAGES_MAX, pull::reviews).await?)
}

/// Resolution of threads by the id of their first comment.
async fn resolution(reader: &Reader<'_>, repo: &RepoName, number: u64) -> Result<HashMap<u64, bool>> {
    let mut resolved = HashMap::new();
    let mut after = Value::Null;
    for _ in 0..THREAD_PAGES_MAX {
        let variables = json!({"owner": repo.owner, "name": repo.repo, "number": number, "after": after});
        let data = reader.query(THREADS, &variables).await?;
        let threads = data.pointer("/repository/pullRequest/reviewThreads").ok_or_else(unexpected)?;
        for thread in threads.get("nodes").and_then(Value::as_array).into_iter().flatten() {
            let id = thread.pointer("/comments/nodes/0/fullDatabaseId").and_then(number_of);
            let is_resolved = thread.get("isResolved").and_then(Value::as_bool);
            resolved.extend(id.zip(is_resolved));
        }
        let has_more = threads.pointer("/pageInfo/hasNextPage").and_then(Value::as_bool).unwrap_or(false);
        if !has_more {
            return Ok(resolved);
        }
        after = threads.pointer("/pageInfo/endCursor").cloned().unwrap_or_default();
    }
    Err(too_long())
}

/// A `BigInt` is a string, and a number on older servers.
fn number_of(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// A part if it is wanted. What fails is a failed part; a limit that ends the run is an error.
async fn when<T>(wanted: bool, read: impl Future<Output = Result<T>> + Send) -> Result<Part<T>> {
    if !wanted {
        return Ok(Part::Unread);
    }
    match read.await {
        Ok(value) => Ok(Part::Read(value)),
        Err(error) if error.code == Code::ProviderRateLimited => Err(error),
        Err(error) => {
            tracing::debug!(%error, "a part of a pull request was not read");
            Ok(Part::Failed)
        }
    }
}

fn put<T>(place: &mut Part<T>, part: Part<T>) {
    if part.was_asked() {
        *place = part;
    }
}

fn whole_list<T>((list, has_more): (Vec<T>, bool)) -> Result<Vec<T>> {
    if has_more { Err(too_long()) } else { Ok(list) }
}

fn too_long() -> Error {
    Error::new(Code::ProviderResponseTooLarge, "the list is longer than is read of one pull request")
}

fn unexpected() -> Error {
    Error::new(Code::ProviderProtocolError, "the answer does not have the expected form")
}

/// The records about one pull request.
pub(super) fn threads_fields(
    key: String,
    head: &str,
    mut details: Details,
    bodies: bool,
) -> output::ThreadsFields {
    let partial = details.partial();
    output::ThreadsFields { key, threads: details.threads(head, bodies), partial }
}

/// The same for its checks.
pub(super) fn checks_fields(key: String, mut details: Details) -> output::ChecksFields {
    let partial = details.partial();
    output::ChecksFields { key, checks: details.checks(), partial }
}
