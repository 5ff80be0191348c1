//! Inline comments as threads: pure.
//!
//! Sources: GitHub REST, «List review comments on a pull request» (`in_reply_to_id` names the first comment of a thread,
//! `original_commit_id` the commit that was commented); GraphQL, `PullRequestReviewThread.isResolved`.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::output::{Comment, Thread, Threads, Words};
use crate::github::record::{speaks_for_it, trust_of};

/// Most characters of a comment.
pub(super) const BODY_CHARS_MAX: usize = 65_536;

/// An inline comment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Inline {
    pub(super) id: u64,
    pub(super) reply_to: Option<u64>,
    pub(super) path: String,
    pub(super) line: Option<u64>,
    pub(super) login: Option<String>,
    pub(super) is_bot: bool,
    pub(super) association: String,
    pub(super) commit: Option<String>,
    pub(super) created_at: Option<String>,
    pub(super) body: String,
}

/// The threads of a head; `resolved` holds the resolution by first comment, when it is known.
pub(super) fn group(
    comments: Vec<Inline>,
    resolved: Option<&HashMap<u64, bool>>,
    head: &str,
    with_bodies: bool,
) -> Threads {
    let mut items: Vec<Thread> = Vec::new();
    let mut at: HashMap<u64, usize> = HashMap::new();
    for comment in comments {
        let first = comment.reply_to.unwrap_or(comment.id);
        let index = *at.entry(first).or_insert(items.len());
        let shown = show(&comment, head, with_bodies);
        match items.get_mut(index) {
            Some(thread) => thread.comments.push(shown),
            None => items.push(Thread {
                path: comment.path,
                line: comment.line,
                resolved: resolved.and_then(|known| known.get(&first)).copied(),
                comments: vec![shown],
            }),
        }
    }
    let is_known = resolved.is_some() && items.iter().all(|thread| thread.resolved.is_some());
    let unresolved = items.iter().filter(|thread| thread.resolved == Some(false)).count() as u64;
    Threads {
        total: items.len() as u64,
        unresolved: is_known.then_some(unresolved),
        resolution: if is_known { "known" } else { "unknown" },
        items,
    }
}

fn show(comment: &Inline, head: &str, with_bodies: bool) -> Comment {
    let trust = trust_of(&comment.association, comment.is_bot);
    Comment {
        id: comment.id,
        author: comment.login.clone(),
        trust,
        created_at: comment.created_at.clone(),
        head_match: comment.commit.as_deref() == Some(head),
        body: with_bodies.then(|| words(comment.body.clone(), trust)),
    }
}

/// A text with the trust in who wrote it.
pub(super) fn words(text: String, trust: &str) -> Words {
    Words { text, trust: trust_of_text(trust) }
}

/// Texts are trusted from collaborators up.
pub(super) fn trust_of_text(trust: &str) -> &'static str {
    if speaks_for_it(trust) { "trusted" } else { "untrusted" }
}
