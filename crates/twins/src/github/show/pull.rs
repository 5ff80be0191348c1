//! Pull requests and their files.

use serde_json::{Value, json};

use super::{Urls, body_text, labels};
use crate::github::actor::{Actor, Association};
use crate::github::details::{Details, FileChange};
use crate::github::pull::{Pull, PullState};
use crate::github::repo::Repo;

/// A pull request as a list shows it: without sizes and mergeability.
pub(in crate::github) fn simple(urls: &Urls, repo: &Repo, pull: &Pull) -> Value {
    let (api, page) = (urls.repo(repo), urls.page(repo));
    let own = format!("{api}/pulls/{}", pull.number);
    let issue = format!("{api}/issues/{}", pull.number);
    let web = format!("{page}/pull/{}", pull.number);
    let merged_at = (pull.state == PullState::Merged).then(|| pull.updated_at());
    let asked: Vec<Value> =
        pull.requested_reviewers.iter().map(|login| urls.user(&Actor::member(login))).collect();
    let mut shown = json!({
        "id": repo.id * 10_000 + pull.number, "node_id": format!("PR_{}", pull.number), "number": pull.number,
        "url": own, "html_url": web, "diff_url": format!("{web}.diff"), "patch_url": format!("{web}.patch"),
        "issue_url": issue, "commits_url": format!("{own}/commits"),
        "review_comments_url": format!("{own}/comments"), "comments_url": format!("{issue}/comments"),
        "statuses_url": format!("{api}/statuses/{}", pull.head_oid), "timeline_url": format!("{issue}/timeline"),
        "state": if pull.state == PullState::Open { "open" } else { "closed" },
        "locked": false, "active_lock_reason": null, "title": pull.title, "user": urls.user(&pull.author),
        "body": body_text(&pull.author), "labels": labels(urls, repo, &pull.labels), "milestone": null,
        "created_at": pull.created_at(), "updated_at": pull.updated_at(), "closed_at": pull.closed_at(),
        "merged_at": merged_at, "draft": pull.draft, "author_association": pull.author.association,
        "auto_merge": null, "assignee": null, "assignees": [], "requested_teams": [], "requested_reviewers": asked,
        "merge_commit_sha": pull.base_oid,
    });
    let ends = json!({"head": end(urls, repo, pull, true), "base": end(urls, repo, pull, false),
        "_links": {"self": {"href": own}, "html": {"href": web}, "issue": {"href": issue}}});
    merge(&mut shown, ends);
    shown
}

/// A pull request as it is read alone; `mergeable` is null while GitHub still works it out.
pub(in crate::github) fn full(
    urls: &Urls,
    repo: &Repo,
    pull: &Pull,
    details: &Details,
    known: bool,
) -> Value {
    let mut shown = simple(urls, repo, pull);
    let merged = pull.state == PullState::Merged;
    let inline: usize = details.threads.iter().map(|thread| thread.comments.len()).sum();
    let (additions, deletions, commits) = pull.size;
    let more = json!({
        "mergeable": if known { pull.mergeable } else { None },
        "mergeable_state": if known { pull.merge_state.as_str() } else { "unknown" },
        "rebaseable": if known { pull.mergeable } else { None }, "merged": merged,
        "merged_by": if merged { urls.user(&Actor::member("ana")) } else { Value::Null },
        "comments": details.comments.len(), "review_comments": inline, "maintainer_can_modify": true,
        "commits": commits, "additions": additions, "deletions": deletions, "changed_files": details.files.len(),
    });
    merge(&mut shown, more);
    shown
}

fn end(urls: &Urls, repo: &Repo, pull: &Pull, is_head: bool) -> Value {
    let (name, branch, oid) = match is_head {
        true => (pull.head_repo.clone(), &pull.head, &pull.head_oid),
        false => (Some(repo.full_name.clone()), &pull.base, &pull.base_oid),
    };
    let owner = name.as_deref().and_then(|name| name.split('/').next()).unwrap_or("ghost");
    let user = urls.user(&Actor { association: Association::None, ..Actor::stranger(owner) });
    // A fork that was deleted leaves a head without a repository.
    let home = name.as_ref().map(|name| {
        let mut home = urls.repository(repo);
        merge(&mut home, json!({"full_name": name, "fork": *name != repo.full_name}));
        if *name != repo.full_name {
            merge(&mut home, json!({"id": repo.id + pull.number, "owner": user.clone()}));
        }
        home
    });
    json!({"label": format!("{owner}:{branch}"), "ref": branch, "sha": oid, "user": user, "repo": home})
}

/// A changed file.
pub(in crate::github) fn file(urls: &Urls, repo: &Repo, pull: &Pull, change: &FileChange) -> Value {
    let (additions, deletions) = change.lines;
    let (oid, path) = (&pull.head_oid, &change.path);
    json!({
        "sha": pull.base_oid, "filename": path, "status": change.status, "additions": additions,
        "deletions": deletions, "changes": additions + deletions,
        "blob_url": format!("{}/blob/{oid}/{path}", urls.page(repo)),
        "raw_url": format!("{}/raw/{oid}/{path}", urls.page(repo)),
        "contents_url": format!("{}/contents/{path}?ref={oid}", urls.repo(repo)),
        "patch": "@@ -1,2 +1,2 @@\n-let secret = \"old\";\n+let secret = \"new\";",
    })
}

fn merge(object: &mut Value, more: Value) {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
}
