//! Reviews and inline comments.

use serde_json::{Value, json};

use super::{Urls, body_text, reactions};
use crate::front::instant;
use crate::github::actor::{Actor, Association};
use crate::github::details::{Review, Thread};
use crate::github::pull::Pull;
use crate::github::repo::Repo;

/// A review.
pub(in crate::github) fn review(urls: &Urls, repo: &Repo, pull: &Pull, review: &Review) -> Value {
    let web = format!("{}/pull/{}#pullrequestreview-{}", urls.page(repo), pull.number, review.id);
    let own = format!("{}/pulls/{}", urls.repo(repo), pull.number);
    let association = review.author.as_ref().map_or(Association::None, |author| author.association);
    let mut shown = json!({
        "id": review.id, "node_id": format!("PRR_{}", review.id), "user": urls.author(review.author.as_ref()),
        "body": body_text(review.author.as_ref().unwrap_or(&Actor::stranger("ghost"))), "state": review.state,
        "html_url": web, "pull_request_url": own, "author_association": association,
        "commit_id": review.commit_oid,
        "_links": {"html": {"href": web}, "pull_request": {"href": own}},
    });
    // A pending review is not submitted yet, and only its author sees it.
    if let (Some(shown), false) = (shown.as_object_mut(), review.state == "PENDING") {
        shown.insert("submitted_at".into(), json!(instant(review.submitted_secs)));
    }
    shown
}

/// The inline comments of a pull request in the order of their ids.
pub(in crate::github) fn review_comments(
    urls: &Urls,
    repo: &Repo,
    pull: &Pull,
    threads: &[Thread],
) -> Vec<Value> {
    threads.iter().flat_map(|thread| in_thread(urls, repo, pull, thread)).collect()
}

fn in_thread(urls: &Urls, repo: &Repo, pull: &Pull, thread: &Thread) -> Vec<Value> {
    let first = thread.comments.first().map(|comment| comment.id);
    let one = |comment: &crate::github::ThreadComment| {
        let own = format!("{}/pulls/comments/{}", urls.repo(repo), comment.id);
        let at = instant(comment.created_secs);
        let mut shown = json!({
            "id": comment.id, "node_id": format!("PRRC_{}", comment.id), "url": own,
            "pull_request_review_id": pull.number * 100, "diff_hunk": "@@ -1,2 +1,2 @@", "path": thread.path,
            "commit_id": pull.head_oid, "original_commit_id": comment.commit_oid,
            "user": urls.user(&comment.author), "body": comment.body, "created_at": at, "updated_at": at,
            "html_url": format!("{}/pull/{}#discussion_r{}", urls.page(repo), pull.number, comment.id),
            "pull_request_url": format!("{}/pulls/{}", urls.repo(repo), pull.number),
            "author_association": comment.author.association, "reactions": reactions(&own),
            // A comment on lines that are gone keeps only its old place.
            "line": thread.line, "original_line": thread.line.unwrap_or(7), "side": "RIGHT", "start_line": null,
            "original_start_line": null, "start_side": null, "subject_type": "line",
        });
        if let (Some(shown), Some(first)) = (shown.as_object_mut(), first.filter(|id| *id != comment.id)) {
            shown.insert("in_reply_to_id".into(), json!(first));
        }
        shown
    };
    thread.comments.iter().map(one).collect()
}
