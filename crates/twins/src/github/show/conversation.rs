//! Issues and comments.

use serde_json::{Value, json};

use super::{Urls, body_text, labels, reactions};
use crate::front::instant;
use crate::github::actor::{Actor, Association};
use crate::github::conversation::{Comment, Issue};
use crate::github::pull::{Pull, PullState};
use crate::github::repo::Repo;

/// An issue.
pub(in crate::github) fn issue(urls: &Urls, repo: &Repo, issue: &Issue, comments: usize) -> Value {
    let page = format!("{}/issues/{}", urls.page(repo), issue.number);
    let created = instant(issue.created_secs);
    let updated = issue.comments.last().map_or_else(|| created.clone(), Comment::updated_at);
    let closed = (issue.state == "closed").then(|| updated.clone());
    let known = json!({"title": issue.title, "state": issue.state, "state_reason": issue.state_reason,
        "labels": labels(urls, repo, &issue.labels), "locked": issue.locked,
        "active_lock_reason": if issue.locked { json!("off-topic") } else { Value::Null },
        "comments": comments, "created_at": created, "updated_at": updated, "closed_at": closed});
    shared(urls, repo, issue.number, &page, &issue.author, known)
}

/// A pull request in the form of an issue: what `/issues/N` says of its number.
pub(in crate::github) fn pull_as_issue(urls: &Urls, repo: &Repo, pull: &Pull, comments: usize) -> Value {
    let page = format!("{}/pull/{}", urls.page(repo), pull.number);
    let state = if pull.state == PullState::Open { "open" } else { "closed" };
    let merged_at = (pull.state == PullState::Merged).then(|| pull.updated_at());
    let known = json!({"title": pull.title, "state": state, "state_reason": null, "draft": pull.draft,
        "labels": labels(urls, repo, &pull.labels), "locked": false, "active_lock_reason": null,
        "comments": comments, "created_at": pull.created_at(), "updated_at": pull.updated_at(),
        "closed_at": pull.closed_at(),
        "pull_request": {"url": format!("{}/pulls/{}", urls.repo(repo), pull.number), "html_url": page,
            "diff_url": format!("{page}.diff"), "patch_url": format!("{page}.patch"), "merged_at": merged_at}});
    shared(urls, repo, pull.number, &page, &pull.author, known)
}

fn shared(urls: &Urls, repo: &Repo, number: u64, page: &str, author: &Actor, known: Value) -> Value {
    let own = format!("{}/issues/{number}", urls.repo(repo));
    let mut shown = json!({
        "id": repo.id * 10_000 + number, "node_id": format!("I_{number}"), "number": number, "url": own,
        "html_url": page, "repository_url": urls.repo(repo), "comments_url": format!("{own}/comments"),
        "events_url": format!("{own}/events"), "timeline_url": format!("{own}/timeline"),
        "user": urls.user(author), "author_association": author.association, "body": body_text(author),
        "body_text": body_text(author), "body_html": format!("<p>{}</p>", body_text(author)),
        "timeline": [{"event": "commented", "body": "a private remark"}], "closed_by": null, "milestone": null,
        "assignee": null, "assignees": [], "performed_via_github_app": null, "reactions": reactions(&own),
    });
    if let (Some(shown), Value::Object(known)) = (shown.as_object_mut(), known) {
        shown.extend(known);
    }
    shown
}

/// A comment.
pub(in crate::github) fn comment(urls: &Urls, repo: &Repo, number: u64, comment: &Comment) -> Value {
    let own = format!("{}/issues/comments/{}", urls.repo(repo), comment.id);
    let is_pull = repo.state(number).is_some();
    let kind = if is_pull { "pull" } else { "issues" };
    let association = comment.author.as_ref().map_or(Association::None, |author| author.association);
    json!({
        "id": comment.id, "node_id": format!("IC_{}", comment.id), "url": own,
        "html_url": format!("{}/{kind}/{number}#issuecomment-{}", urls.page(repo), comment.id),
        "issue_url": format!("{}/issues/{number}", urls.repo(repo)),
        "user": urls.author(comment.author.as_ref()), "author_association": association, "body": comment.body,
        "body_text": comment.body, "created_at": comment.created_at(), "updated_at": comment.updated_at(),
        "performed_via_github_app": null, "reactions": reactions(&own),
    })
}
