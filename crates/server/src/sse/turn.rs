//! The rows of one Turn's journal as they are written.

use std::collections::VecDeque;
use std::sync::Arc;

use loom_domain::{Error, Principal, TurnId};
use serde_json::Value;
use tokio::time::Interval;
use tokio_util::sync::CancellationToken;

use super::feed::{Item, Steps, comments};
use crate::{App, StreamEvent};

/// One reader's place in a journal. The journal itself is the past, so any place can be gone on from.
pub(crate) struct TurnFeed {
    app: App,
    who: Principal,
    id: TurnId,
    rows: VecDeque<Value>,
    place: u64,
    is_over: bool,
    comment: Interval,
    stop: CancellationToken,
}

impl TurnFeed {
    /// Reads what there is behind a place; a Turn that nobody can read is told here and not in the stream.
    pub(crate) async fn open(app: &App, who: Principal, id: TurnId, place: u64) -> Result<Self, Error> {
        let mut feed = TurnFeed {
            who,
            id,
            rows: VecDeque::new(),
            place,
            is_over: false,
            comment: comments(app),
            stop: app.stop().clone(),
            app: app.clone(),
        };
        let news = app.desk().turn_news(feed.who.clone(), feed.id.clone(), None).await?;
        feed.take(news);
        Ok(feed)
    }

    /// Takes rows that were not given yet.
    fn take(&mut self, news: crate::desk::TurnNews) {
        let skipped = usize::try_from(self.place).unwrap_or(usize::MAX);
        self.rows.extend(news.rows.into_iter().skip(skipped));
        self.is_over = news.is_over;
    }

    fn given(&mut self, row: &Value) -> Item {
        self.place = self.place.saturating_add(1);
        let kind = row.get("kind").and_then(Value::as_str).unwrap_or("row");
        Item::Event(Arc::new(StreamEvent {
            seq: row.get("seq").and_then(Value::as_u64),
            kind: format!("turn.{kind}"),
            agent: None,
            data: row.to_string(),
        }))
    }
}

impl Steps for TurnFeed {
    async fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(row) = self.rows.pop_front() {
                return Some(self.given(&row));
            }
            if self.is_over {
                return None;
            }
            let news = self.app.desk().turn_news(self.who.clone(), self.id.clone(), Some(self.place));
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return None,
                news = news => match news {
                    Ok(news) => self.take(news),
                    Err(error) => {
                        tracing::warn!(code = %error.code, "a stream ended: the journal could not be read");
                        return None;
                    }
                },
                _ = self.comment.tick() => return Some(Item::Comment),
            }
        }
    }
}
