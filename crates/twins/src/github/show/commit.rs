//! Check runs and statuses of a commit.

use serde_json::{Value, json};

use super::Urls;
use crate::front::instant;
use crate::github::commit::{CheckRun, CommitStatus};
use crate::github::repo::Repo;

/// A check run.
pub(in crate::github) fn check_run(urls: &Urls, repo: &Repo, oid: &str, run: &CheckRun) -> Value {
    let own = format!("{}/check-runs/{}", urls.repo(repo), run.id);
    let web = format!("{}/runs/{}", urls.page(repo), run.id);
    let ended = run.conclusion.as_ref().map(|_| instant(run.started_secs + 300));
    let app_id = if run.app == "github-actions" { 15_368 } else { 20_000 };
    json!({
        "id": run.id, "node_id": format!("CR_{}", run.id), "head_sha": oid, "external_id": "", "url": own,
        "html_url": web, "details_url": web, "status": run.status, "conclusion": run.conclusion,
        "started_at": instant(run.started_secs), "completed_at": ended, "name": run.name,
        "output": {"title": "Log", "summary": "password=hunter2 in the log", "text": null, "annotations_count": 0,
            "annotations_url": format!("{own}/annotations")},
        "check_suite": {"id": repo.id + app_id},
        "app": {"id": app_id, "slug": run.app, "name": run.app, "node_id": format!("A_{app_id}"),
            "owner": {"login": "github", "id": 9919, "type": "Organization"}},
        "pull_requests": [],
    })
}

/// A commit status.
pub(in crate::github) fn status(urls: &Urls, repo: &Repo, oid: &str, status: &CommitStatus) -> Value {
    let at = instant(status.created_secs);
    json!({
        "id": status.id, "node_id": format!("SC_{}", status.id), "state": status.state, "context": status.context,
        "url": format!("{}/statuses/{oid}", urls.repo(repo)), "description": "said by a machine",
        "target_url": format!("https://ci.example.com/{}?key=hunter2", status.id),
        "avatar_url": "https://avatars.githubusercontent.com/oa/1?v=4", "created_at": at, "updated_at": at,
    })
}
