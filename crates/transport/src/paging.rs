//! Reading a list page by page: items are given as their page arrives, before the next page is asked for.

mod cursor;
mod link;
mod path;
mod plan;

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use futures_util::stream::{self, BoxStream, StreamExt};
use loom_domain::{Code, Error, Result};
use serde_json::Value;
use tokio::time::Instant;

use crate::request::{RequestBuilder, Spec};
use crate::settings;
use crate::transport::Transport;
use cursor::{Cursor, Position};

pub use path::JqPath;

/// Pages that are read if nothing else is said.
const PAGES: u32 = 100;
/// Most pages that can be asked for.
const PAGES_MAX: u32 = 10_000;

/// How a provider hands out a long list. Every page is a JSON answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Paging {
    /// `Link: <URL>; rel="next"` (RFC 8288). A page is an array of items; any other document is one item.
    Link,
    /// The answer holds the cursor of the next page, a string or number; none, null or "" ends the list.
    Cursor {
        /// Query parameter for the cursor.
        param: String,
        /// Where the next cursor stands.
        next: JqPath,
        /// Where the array of items stands.
        items: JqPath,
    },
    /// Pages are counted. A page with fewer than `size` items ends the list; with a size of 0 an empty one does.
    Page {
        /// Query parameter for the page number.
        param: String,
        /// Number of the first page.
        start: u32,
        /// Query parameter for the size, if the provider takes one.
        size_param: Option<String>,
        /// Items of a full page.
        size: u32,
        /// Where the array of items stands.
        items: JqPath,
    },
    /// Items are counted from 0. A page with fewer than `size` items ends the list; with a size of 0 an empty one does.
    Offset {
        /// Query parameter for the number of items before the page.
        param: String,
        /// Query parameter for the size.
        size_param: String,
        /// Items of a full page.
        size: u32,
        /// Where the array of items stands.
        items: JqPath,
    },
    /// The answer holds the URL of the next page; none, null or "" ends the list.
    NextUrl {
        /// Where the URL stands.
        next: JqPath,
        /// Where the array of items stands.
        items: JqPath,
    },
}

/// Why reading ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The list ended.
    End,
    /// `max_items` were given.
    Limit,
    /// `max_pages` were read.
    MaxPages,
    /// The deadline passed.
    Deadline,
    /// The provider or a local limit asks to wait longer than the deadline allows.
    RateLimited,
    /// A page could not be read.
    Error,
}

impl StopReason {
    /// The word of the output streams.
    pub const fn as_str(self) -> &'static str {
        match self {
            StopReason::End => "end",
            StopReason::Limit => "limit",
            StopReason::MaxPages => "max_pages",
            StopReason::Deadline => "deadline",
            StopReason::RateLimited => "rate_limited",
            StopReason::Error => "error",
        }
    }
}

/// How reading ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageEnd {
    /// Whether every item of the list was given.
    pub complete: bool,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// Where to go on, for [`PageStream::resume`]; `None` when complete. It may name a provider's URL.
    pub cursor: Option<String>,
    /// Pages that were read.
    pub pages: u32,
    /// Items that were given.
    pub items: u64,
}

/// What a [`PageStream`] gives: items in order, then the end.
#[derive(Debug, Clone, PartialEq)]
pub enum PageEvent {
    /// An item.
    Item(Value),
    /// The end; nothing follows.
    End(PageEnd),
}

/// A list that is read page by page. Made by [`RequestBuilder::pages`]; each page is one call with its own retries.
#[derive(Debug)]
#[must_use = "nothing is read until `next` is called"]
pub struct PageStream {
    transport: Transport,
    spec: Spec,
    paging: Paging,
    mistake: Option<Error>,
    pages_max: u32,
    items_max: u64,
    within: Duration,
    deadline: Option<Instant>,
    at: Cursor,
    loaded: Option<Loaded>,
    seen: HashSet<String>,
    pages: u32,
    items: u64,
    end: Option<PageEnd>,
    is_over: bool,
}

/// A page that was read and not yet given out.
#[derive(Debug)]
struct Loaded {
    items: VecDeque<Value>,
    next: Option<Position>,
}

/// What a step found.
enum Step {
    Give(Value),
    Load,
    Stop(StopReason),
    Fail(Error),
}

impl PageStream {
    pub(crate) fn new(transport: Transport, spec: Spec, mistake: Option<Error>, paging: Paging) -> Self {
        PageStream {
            within: spec.deadline,
            transport,
            spec,
            paging,
            mistake,
            pages_max: PAGES,
            items_max: u64::MAX,
            deadline: None,
            at: Cursor::first(),
            loaded: None,
            seen: HashSet::new(),
            pages: 0,
            items: 0,
            end: None,
            is_over: false,
        }
    }

    /// Reads at most that many pages: 100 if nothing is said, 1 to 10,000.
    pub fn max_pages(mut self, pages: u32) -> Self {
        if !(1..=PAGES_MAX).contains(&pages) {
            self.mistake.get_or_insert(settings::usage("max_pages", "1 to 10000"));
        }
        self.pages_max = pages;
        self
    }

    /// Gives at most that many items.
    pub fn max_items(mut self, items: u64) -> Self {
        self.items_max = items;
        self
    }

    /// Limits all pages together, 1 second to a day, from the first call of `next` on. It is the deadline of the
    /// request if nothing is said.
    pub fn deadline(mut self, limit: Duration) -> Self {
        if let Err(mistake) = settings::check_deadline(limit) {
            self.mistake.get_or_insert(mistake);
        }
        self.within = limit;
        self
    }

    /// Goes on where an earlier reading of the same list stopped; no item is given twice.
    pub fn resume(mut self, cursor: &str) -> Self {
        match Cursor::parse(cursor, &self.paging) {
            Ok(at) => self.at = at,
            Err(mistake) => {
                self.mistake.get_or_insert(mistake);
            }
        }
        self
    }

    /// Where reading goes on behind the items that were given so far, for [`PageStream::resume`].
    pub fn cursor(&self) -> String {
        self.at.to_string()
    }

    /// How reading ended, once it has.
    pub fn end(&self) -> Option<&PageEnd> {
        self.end.as_ref()
    }

    /// The next item, an error, or the end; then `None`. After an error the end follows, with the cursor of the
    /// page that failed.
    pub async fn next(&mut self) -> Option<Result<PageEvent>> {
        if self.is_over {
            return None;
        }
        if let Some(end) = &self.end {
            self.is_over = true;
            return Some(Ok(PageEvent::End(end.clone())));
        }
        if let Some(mistake) = self.mistake.take() {
            self.stop(StopReason::Error);
            return Some(Err(mistake));
        }
        let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + self.within);
        loop {
            match self.step(deadline) {
                Step::Give(item) => return Some(Ok(PageEvent::Item(item))),
                Step::Fail(error) => {
                    self.stop(StopReason::Error);
                    return Some(Err(error));
                }
                Step::Stop(reason) => {
                    let end = self.stop(reason);
                    self.is_over = true;
                    return Some(Ok(PageEvent::End(end)));
                }
                Step::Load => {
                    if let Err(error) = Box::pin(self.load(deadline)).await {
                        if Instant::now() >= deadline {
                            continue;
                        }
                        let limited = error.code == Code::ProviderRateLimited;
                        self.stop(if limited { StopReason::RateLimited } else { StopReason::Error });
                        return Some(Err(error));
                    }
                }
            }
        }
    }

    /// Reads everything into memory. A page that fails is an error; a limit that stops is not.
    pub async fn collect(mut self) -> Result<(Vec<Value>, PageEnd)> {
        let mut items = Vec::new();
        while let Some(event) = self.next().await {
            match event? {
                PageEvent::Item(item) => items.push(item),
                PageEvent::End(end) => return Ok((items, end)),
            }
        }
        Err(Error::internal("a list ended without its end"))
    }

    /// The same as a stream.
    pub fn into_stream(self) -> BoxStream<'static, Result<PageEvent>> {
        stream::unfold(self, |mut pages| async move { Some((pages.next().await?, pages)) }).boxed()
    }

    /// Gives what is there, moves to the next page, or finds that there is no more.
    fn step(&mut self, deadline: Instant) -> Step {
        if let Some(loaded) = self.loaded.take_if(|page| page.items.is_empty()) {
            let Some(next) = loaded.next else { return Step::Stop(StopReason::End) };
            let repeats = !self.seen.insert(next.to_string());
            self.at = Cursor::start_of(next);
            if repeats {
                return Step::Fail(plan::unreadable("the provider repeats the cursor of an earlier page"));
            }
        }
        if self.items >= self.items_max {
            return Step::Stop(StopReason::Limit);
        }
        if let Some(item) = self.loaded.as_mut().and_then(|page| page.items.pop_front()) {
            self.items += 1;
            self.at.skip += 1;
            return Step::Give(item);
        }
        if self.pages >= self.pages_max {
            return Step::Stop(StopReason::MaxPages);
        }
        if Instant::now() >= deadline { Step::Stop(StopReason::Deadline) } else { Step::Load }
    }

    async fn load(&mut self, deadline: Instant) -> Result<()> {
        let mut spec = plan::request(&self.spec, &self.paging, &self.at.position)?;
        if self.pages == 0 {
            self.seen.insert(self.at.position.to_string());
            self.seen.insert(plan::full_url(&spec)?.to_string());
        }
        spec.deadline = deadline.saturating_duration_since(Instant::now());
        let response = RequestBuilder::of_spec(self.transport.clone(), spec).send().await?;
        let page = plan::read(&self.spec, &self.paging, &self.at.position, &response)?;
        self.pages += 1;
        let mut items = VecDeque::from(page.items);
        items.drain(..self.at.skip.min(items.len()));
        self.loaded = Some(Loaded { items, next: page.next });
        Ok(())
    }

    fn stop(&mut self, stop_reason: StopReason) -> PageEnd {
        let complete = stop_reason == StopReason::End;
        let cursor = (!complete).then(|| self.at.to_string());
        let end = PageEnd { complete, stop_reason, cursor, pages: self.pages, items: self.items };
        self.end.insert(end).clone()
    }
}
