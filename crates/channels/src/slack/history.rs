//! Reading messages: thread context, catch-up, probes, target checks.

use std::collections::BTreeSet;

use loom_domain::{ConversationType, Timestamp};
use serde_json::{Value, json};

use super::Inner;
use super::settle::next_cursor;
use super::translate::from_history;
use super::wire::{flag, is_ts, list, ms_to_ts, text, ts_ms};
use crate::{CheckTarget, Fault, FaultClass, HistoryMessage, HistoryPage, HistoryQuery};

/// Messages of one query.
const MESSAGES_MAX: usize = 1_000;
/// Pages of one conversation.
const PAGES_MAX: usize = 15;
/// Age of a root whose new replies a catch-up still finds.
const THREAD_LOOK_BACK_MS: i64 = 24 * 3_600_000;
/// Start of all history.
const FROM_START: &str = "0";
/// Pages of one thread that are read to reach its newest replies.
const THREAD_PAGES_MAX: usize = 10;
/// Codes that say the thread or message is not in that conversation.
const ABSENT: &[&str] = &["thread_not_found", "message_not_found", "channel_not_found"];

impl Inner {
    pub(super) async fn history(&self, query: &HistoryQuery) -> Result<HistoryPage, Fault> {
        let own = self.own().await?;
        let kind = self.kind_of(&query.conversation_id).await;
        let limit = query.limit.clamp(1, MESSAGES_MAX);
        let (items, truncated) = match &query.thread_id {
            Some(root) => self.thread_items(query, root, limit).await?,
            None => self.channel_items(query, limit).await?,
        };
        let name = |id: &str| self.names.value(id);
        let known = super::translate::Known { own: &own, name: &name, kind: &|_| kind };
        let read = |item: &Value| from_history(item, &query.conversation_id, &known);
        Ok(HistoryPage {
            messages: items.iter().filter_map(read).collect::<Vec<HistoryMessage>>(),
            truncated,
        })
    }

    /// Newest first from Slack, oldest first from here. A catch-up also reads new replies of threads whose root
    /// is up to a day older, because a conversation's history does not show them.
    async fn channel_items(&self, query: &HistoryQuery, limit: usize) -> Result<(Vec<Value>, bool), Fault> {
        let cut = oldest(query);
        let (mut items, roots, mut truncated) =
            self.channel_pages(&query.conversation_id, &cut, limit).await?;
        for root in &roots {
            if items.len() >= limit {
                truncated = true;
                break;
            }
            let (thread, is_cut_short) = match self.thread_pages(&query.conversation_id, root, &cut).await {
                // Its root was deleted meanwhile; that hides no other message.
                Err(fault) if is_absent(&fault) => continue,
                read => read?,
            };
            let is_new = |item: &Value| is_newer(text(item, "ts"), &cut) && text(item, "ts") != Some(root);
            items.extend(thread.into_iter().filter(is_new));
            truncated |= is_cut_short;
        }
        items.sort_by(|a, b| order(text(a, "ts")).cmp(&order(text(b, "ts"))));
        items.dedup_by(|a, b| text(a, "ts") == text(b, "ts"));
        truncated |= items.len() > limit;
        items.drain(..items.len().saturating_sub(limit));
        Ok((items, truncated))
    }

    /// Messages newer than the cut, roots of threads with newer replies, and whether pages were left unread.
    async fn channel_pages(
        &self,
        channel: &str,
        cut: &str,
        limit: usize,
    ) -> Result<(Vec<Value>, Vec<String>, bool), Fault> {
        let is_catch_up = cut != FROM_START;
        let start = match ts_ms(cut) {
            Some(ms) if is_catch_up => ms_to_ts(ms - THREAD_LOOK_BACK_MS),
            _ => FROM_START.to_owned(),
        };
        let (mut items, mut roots, mut cursor) = (Vec::new(), Vec::new(), String::new());
        for page_n in 1.. {
            let page = self.message_page(channel, None, &start, &cursor).await?;
            for item in list(&page, "messages") {
                if is_catch_up && is_newer(text(item, "latest_reply"), cut) {
                    roots.extend(text(item, "ts").map(str::to_owned));
                }
                if is_newer(text(item, "ts"), cut) {
                    items.push(item.clone());
                }
            }
            let next = next_cursor(&page);
            if next.is_empty() || next == cursor {
                break;
            }
            if items.len() >= limit || page_n == PAGES_MAX {
                return Ok((items, roots, true));
            }
            cursor = next;
        }
        Ok((items, roots, false))
    }

    /// The root and the newest replies.
    async fn thread_items(
        &self,
        query: &HistoryQuery,
        root: &str,
        limit: usize,
    ) -> Result<(Vec<Value>, bool), Fault> {
        let (mut items, mut truncated) =
            self.thread_pages(&query.conversation_id, root, &oldest(query)).await?;
        items.retain(|item| is_after(item, query));
        if items.len() > limit {
            truncated = true;
            let keeps_root =
                usize::from(items.first().is_some_and(|item| text(item, "ts") == Some(root)) && limit > 1);
            items.drain(keeps_root..items.len() - (limit - keeps_root));
        }
        Ok((items, truncated))
    }

    /// A thread from its root on, each message once, and whether pages were left unread.
    async fn thread_pages(
        &self,
        channel: &str,
        root: &str,
        oldest: &str,
    ) -> Result<(Vec<Value>, bool), Fault> {
        let (mut items, mut seen, mut cursor) = (Vec::new(), BTreeSet::new(), String::new());
        for page_n in 1.. {
            let page = self.message_page(channel, Some(root), oldest, &cursor).await?;
            for item in list(&page, "messages") {
                if seen.insert(text(item, "ts").map(str::to_owned)) {
                    items.push(item.clone());
                }
            }
            let next = next_cursor(&page);
            if next.is_empty() || next == cursor {
                break;
            }
            if page_n == THREAD_PAGES_MAX {
                return Ok((items, true));
            }
            cursor = next;
        }
        Ok((items, false))
    }

    /// Whether a thread or message belongs to the conversation.
    pub(super) async fn check_target(&self, target: &CheckTarget) -> Result<bool, Fault> {
        let channel = &target.conversation_id;
        let ids = [target.thread_id.as_deref(), target.message_id.as_deref()];
        if ids.into_iter().flatten().any(|id| !is_ts(id)) {
            return Ok(false);
        }
        let found = match (&target.thread_id, &target.message_id) {
            (Some(root), message) => {
                let wanted = message.as_deref().unwrap_or(root);
                self.has("conversations.replies", json!({"channel": channel, "ts": root}), wanted).await
            }
            (None, Some(ts)) => self.has("conversations.history", json!({"channel": channel}), ts).await,
            (None, None) => Ok(self.conversation(channel).await.is_ok()),
        };
        match found {
            Err(fault) if is_absent(&fault) => Ok(false),
            other => other,
        }
    }

    async fn has(&self, method: &'static str, mut params: Value, ts: &str) -> Result<bool, Fault> {
        if let Some(map) = params.as_object_mut() {
            map.insert("oldest".into(), json!(ts));
            map.insert("latest".into(), json!(ts));
            map.insert("inclusive".into(), json!(true));
            map.insert("limit".into(), json!(10));
        }
        let answer = self.api.read_call(method, params).await?;
        Ok(list(&answer.body, "messages").iter().any(|item| text(item, "ts") == Some(ts)))
    }

    /// Kind of a conversation, from what is known or the platform.
    pub(super) async fn kind_of(&self, channel: &str) -> Option<ConversationType> {
        if self.kinds.is_known(channel) {
            return self.kinds.value(channel);
        }
        let answer = self.api.read_call("conversations.info", json!({"channel": channel})).await;
        let kind = match answer {
            Ok(answer) => answer
                .body
                .get("channel")
                .filter(|c| c.is_object())
                .map(super::translate::kind_of_conversation),
            // Only a definite answer is remembered; after a network failure the next event asks again.
            Err(fault) if matches!(fault.class, FaultClass::Retryable | FaultClass::RateLimited) => {
                return None;
            }
            Err(_) => None,
        };
        self.kinds.put(channel, kind);
        kind
    }
}

fn is_absent(fault: &Fault) -> bool {
    fault.class == FaultClass::Permanent && ABSENT.contains(&fault.code.as_str())
}

fn oldest(query: &HistoryQuery) -> String {
    let since = query.since.map(|Timestamp(ms)| ms_to_ts(ms));
    query.after.clone().filter(|ts| is_ts(ts)).or(since).unwrap_or_else(|| FROM_START.to_owned())
}

/// Order of timestamps: they are digits of one width within centuries.
fn order(ts: Option<&str>) -> (usize, &str) {
    ts.map_or((0, ""), |ts| (ts.len(), ts))
}

fn is_newer(ts: Option<&str>, cut: &str) -> bool {
    ts.is_some() && (cut == FROM_START || order(ts) > order(Some(cut)))
}

/// `oldest` may be inclusive in a thread, and a thread's root comes with every first page.
fn is_after(item: &Value, query: &HistoryQuery) -> bool {
    query.after.as_deref().is_none_or(|after| text(item, "ts") != Some(after)) && !flag(item, "hidden")
}
