//! `scan`: the list streams from its first page, details are read side by side, and items leave in list order.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, FuturesOrdered, StreamExt as _};
use loom_domain::{Error, Result};
use serde_json::Value;

use super::filter::Filter;
use super::input::{Detail, ScanInput};
use super::read::{self, Details, Parts};
use super::record::record;
use super::walk::{Listed, Page, Place, Walk};
use crate::github::{Patience, Reader, RepoName};
use crate::{Cx, Flow, RunOutcome, RunRequest, Sink, SourceRef, StopReason};

/// Pull requests whose details are read or wait for their turn. One that is slow holds back those behind it, not the
/// requests: requests in flight have a limit of their own.
const WINDOW: usize = 128;
/// Pull requests that are left out before a run notes again where it is.
const DROPPED_MAX: u32 = 100;

/// What a scan is about.
pub(super) struct Order {
    pub(super) repos: Vec<RepoName>,
    pub(super) filter: Filter,
    pub(super) detail: Detail,
}

/// How much the input puts up with.
pub(super) fn patience(input: &ScanInput) -> Patience {
    let reset_wait_max = input.wait_for_reset.then(|| Duration::from_secs(u64::from(input.wait_seconds)));
    Patience { concurrency: input.concurrency, reset_wait_max }
}

/// A pull request that was judged; without a record it is not wanted.
struct Judged {
    place: Place,
    record: Option<Value>,
}

/// Runs it.
pub(super) async fn scan(
    cx: &Cx,
    order: Order,
    patience: Patience,
    request: &RunRequest,
    out: &mut dyn Sink,
) -> Result<RunOutcome> {
    let start = Place::of(request.cursor.as_ref())?;
    let reader = Reader::open(cx, patience).await?;
    out.checkpoint(&start.cursor()?);
    let order = Arc::new(order);
    let repos = order.repos.clone();
    let sources = repos.iter().map(|repo| source(cx, repo)).collect();
    let walk = Walk::new(&reader, &repos, order.filter.list_state(), cx.limits().max_pages, start);
    let pages = stream::unfold(walk, |mut walk| async move {
        let page = walk.page().await;
        Some((page, walk))
    });
    let mut run = Run { out, done: 0, dropped: 0, last: None };
    let stop_reason = drive(&reader, &order, Box::pin(pages), &mut run).await?;
    let cursor = run.last.as_ref().map(Place::cursor).transpose()?;
    Ok(RunOutcome { source_refs: sources, stop_reason, cursor, ..RunOutcome::default() })
}

fn source(cx: &Cx, repo: &RepoName) -> SourceRef {
    SourceRef::new("github_repository", repo.name(), Some(repo.url()), cx.now())
}

/// What was given so far.
struct Run<'a> {
    out: &'a mut dyn Sink,
    done: u64,
    dropped: u32,
    last: Option<Place>,
}

impl Run<'_> {
    /// Gives one item; a run that is cut off behind it goes on behind it.
    fn give(&mut self, judged: Judged) -> Result<Flow> {
        let mut flow = Flow::Continue;
        let is_wanted = judged.record.is_some();
        if let Some(record) = judged.record {
            flow = self.out.item(record);
            self.done += 1;
            self.out.progress(self.done, None);
        } else {
            self.dropped += 1;
        }
        if is_wanted || self.dropped >= DROPPED_MAX {
            self.dropped = 0;
            self.out.checkpoint(&judged.place.cursor()?);
        }
        self.last = Some(judged.place);
        Ok(flow)
    }
}

/// Feeds the window from the pages, and the sink from the window.
async fn drive(
    reader: &Reader<'_>,
    order: &Arc<Order>,
    mut pages: impl futures_util::Stream<Item = Result<Page>> + Unpin + Send,
    run: &mut Run<'_>,
) -> Result<StopReason> {
    let mut window: FuturesOrdered<BoxFuture<'_, Result<Judged>>> = FuturesOrdered::new();
    let mut waiting: VecDeque<Listed> = VecDeque::new();
    let mut end: Option<Result<StopReason>> = None;
    loop {
        while window.len() < WINDOW
            && let Some(listed) = waiting.pop_front()
        {
            window.push_back(Box::pin(judge(reader, order, listed)));
        }
        if window.is_empty()
            && let Some(end) = end.take()
        {
            return end;
        }
        let reads_on = end.is_none() && waiting.is_empty();
        tokio::select! {
            biased;
            Some(judged) = window.next(), if !window.is_empty() => {
                if let Flow::Stop(reason) = run.give(judged?)? {
                    return Ok(reason);
                }
            }
            error = reader.given_up() => return Err(error),
            page = pages.next(), if reads_on => match page {
                Some(Ok(Page::Pulls(pulls))) => waiting.extend(pulls),
                Some(Ok(Page::MaxPages)) => end = Some(Ok(StopReason::MaxPages)),
                Some(Ok(Page::End)) => end = Some(Ok(StopReason::End)),
                Some(Err(error)) => end = Some(Err(error)),
                None => end = Some(Err(Error::internal("the list ended without its end"))),
            },
        }
    }
}

/// Reads what is needed to decide, then the rest.
async fn judge(reader: &Reader<'_>, order: &Order, listed: Listed) -> Result<Judged> {
    let Listed { place, pull } = listed;
    let refused = |place| Ok(Judged { place, record: None });
    if !order.filter.fits_list(&pull) {
        return refused(place);
    }
    let repo = order.repos.get(place.repo).ok_or_else(|| Error::internal("a place without a repository"))?;
    let mut details = Details::default();
    let needed = order.filter.needs();
    if needed != Parts::default() {
        read::read(reader, repo, &pull, needed, &mut details).await?;
        if !order.filter.fits_details(&pull, &details) {
            return refused(place);
        }
    }
    let rest = Parts::of(order.detail).without(needed);
    read::read(reader, repo, &pull, rest, &mut details).await?;
    let record = record(repo, pull, details, order.detail);
    Ok(Judged { place, record: Some(serde_json::to_value(record).map_err(Error::internal)?) })
}
