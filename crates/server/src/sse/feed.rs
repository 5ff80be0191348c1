//! What a stream sends next.

use std::collections::VecDeque;
use std::sync::Arc;

use loom_domain::AgentId;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::time::{Interval, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::{App, EventSource, History, StreamEvent};

/// Stored events read at once.
const PAGE: usize = 256;

/// One thing to send.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Event(Arc<StreamEvent>),
    Comment,
    Reset,
}

/// What gives a stream its next thing to send.
pub(crate) trait Steps: Send + 'static {
    /// The next thing to send; `None` ends the stream.
    fn next(&mut self) -> impl Future<Output = Option<Item>> + Send;
}

/// When a stream that is still is shown to be alive.
pub(super) fn comments(app: &App) -> Interval {
    let every = app.config().streams.comment_every;
    let mut comment = tokio::time::interval_at(tokio::time::Instant::now() + every, every);
    comment.set_missed_tick_behavior(MissedTickBehavior::Delay);
    comment
}

/// Which events a reader wants and may see.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    /// Types; empty for all.
    pub(crate) kinds: Vec<String>,
    /// Beginnings of types; empty for all.
    pub(crate) topics: Vec<String>,
    /// The one Agent whose events are shown.
    pub(crate) agent: Option<AgentId>,
}

/// Where a reader starts, and whether it stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Span {
    /// What comes from now on.
    Live,
    /// What is stored after a place, then what comes.
    From(u64),
    /// What is stored after a place, and no more.
    Stored(u64),
}

impl Span {
    fn start(self) -> u64 {
        match self {
            Span::Live => 0,
            Span::From(seq) | Span::Stored(seq) => seq,
        }
    }
}

impl Filter {
    fn shows(&self, event: &StreamEvent) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&event.kind))
            && (self.topics.is_empty() || self.topics.iter().any(|topic| event.kind.starts_with(topic)))
            && (self.agent.is_none() || self.agent == event.agent)
    }
}

/// One reader's place in the events. It is registered before it reads the past, so nothing falls between.
pub(crate) struct Feed {
    source: Arc<dyn EventSource>,
    filter: Filter,
    live: broadcast::Receiver<Arc<StreamEvent>>,
    past: VecDeque<Arc<StreamEvent>>,
    last_seq: u64,
    catching_up: bool,
    stays: bool,
    ended: bool,
    comment: Interval,
    stop: CancellationToken,
}

impl Feed {
    /// Registers a reader.
    pub(crate) fn new(app: &App, filter: Filter, span: Span) -> Self {
        let source = Arc::clone(&app.doors().events);
        Feed {
            live: source.subscribe(),
            source,
            filter,
            past: VecDeque::new(),
            last_seq: span.start(),
            catching_up: span != Span::Live,
            stays: !matches!(span, Span::Stored(_)),
            ended: false,
            comment: comments(app),
            stop: app.stop().clone(),
        }
    }

    fn is_news(&mut self, event: &StreamEvent) -> bool {
        if let Some(seq) = event.seq {
            if seq <= self.last_seq {
                return false;
            }
            self.last_seq = seq;
        }
        self.filter.shows(event)
    }

    async fn step_past(&mut self) -> Option<Item> {
        if let Some(event) = self.past.pop_front() {
            return Some(Item::Event(event));
        }
        match self.source.after(self.last_seq, PAGE).await {
            Ok(History::Events(events)) if events.is_empty() => self.caught_up(),
            Ok(History::Events(events)) => self.past.extend(events),
            Ok(History::Gone) => {
                self.caught_up();
                return Some(Item::Reset);
            }
            Err(error) => {
                tracing::warn!(code = %error.code, "an event stream ended: the past could not be read");
                self.ended = true;
            }
        }
        None
    }

    fn caught_up(&mut self) {
        self.catching_up = false;
        self.ended = !self.stays;
    }

    async fn step_live(&mut self) -> Option<Item> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => self.ended = true,
            event = self.live.recv() => match event {
                Ok(event) => return Some(Item::Event(event)),
                Err(RecvError::Closed) => self.ended = true,
                Err(RecvError::Lagged(_)) => {
                    self.ended = true;
                    return Some(Item::Reset);
                }
            },
            _ = self.comment.tick() => return Some(Item::Comment),
        }
        None
    }
}

impl Steps for Feed {
    async fn next(&mut self) -> Option<Item> {
        while !self.ended {
            let step = if self.catching_up { self.step_past().await } else { self.step_live().await };
            match step {
                Some(Item::Event(event)) if !self.is_news(&event) => {}
                Some(item) => return Some(item),
                None => {}
            }
        }
        None
    }
}
