//! One pull request and what stands behind it.

use super::{anonymous, builder, client, twin};
use crate::github::{Actor, CheckRun, CommitStatus, Review};

#[tokio::test]
async fn mergeability_is_known_after_the_reads_it_takes() {
    let twin = builder().mergeable_after_reads(2).start().await.unwrap();
    twin.edit("acme/tool", 5, |pull, _| pull.mergeable = Some(true));
    let read = async || client(&twin).get("/repos/acme/tool/pulls/5").await.json()["mergeable"].clone();
    let answers = [read().await, read().await, read().await];
    assert_eq!(answers, [serde_json::Value::Null, serde_json::Value::Null, true.into()]);
    let list = client(&twin).get("/repos/acme/tool/pulls?per_page=1").await.json();
    assert!(list[0].get("mergeable").is_none() && list[0].get("additions").is_none(), "lists do not say it");
}

#[tokio::test]
async fn checks_show_the_latest_run_and_statuses_the_latest_of_each_context() {
    let twin = twin().await;
    twin.edit("acme/tool", 5, |_, details| {
        details.checks = vec![
            CheckRun::new(1, "unit", Some("failure")),
            CheckRun::new(2, "unit", Some("success")),
            CheckRun::new(3, "lint", None),
        ];
        details.statuses = vec![CommitStatus::new(1, "ci", "pending"), CommitStatus::new(2, "ci", "success")];
    });
    let oid = twin.pull("acme/tool", 5).unwrap().0.head_oid;
    let client = client(&twin);
    let runs = client.get(&format!("/repos/acme/tool/commits/{oid}/check-runs?filter=latest")).await.json();
    assert_eq!((&runs["total_count"], &runs["check_runs"][1]["conclusion"]), (&2.into(), &"success".into()));
    assert_eq!(runs["check_runs"][0]["status"], "in_progress");
    let all = client.get(&format!("/repos/acme/tool/commits/{oid}/check-runs?filter=all")).await.json();
    assert_eq!(all["total_count"], 3);
    let status = client.get(&format!("/repos/acme/tool/commits/{oid}/status")).await.json();
    assert_eq!((&status["state"], &status["total_count"]), (&"success".into(), &1.into()));
    let unknown = client.get(&format!("/repos/acme/tool/commits/{}/status", "0".repeat(40))).await;
    assert_eq!((unknown.status, unknown.json()["message"].as_str().unwrap().len()), (422, 65));
}

#[tokio::test]
async fn a_push_moves_the_head_and_the_old_head_keeps_its_checks() {
    let twin = twin().await;
    let old = twin.pull("acme/tool", 5).unwrap().0.head_oid;
    let new = twin.push("acme/tool", 5).unwrap();
    assert_ne!(old, new);
    let client = client(&twin);
    assert_eq!(client.get("/repos/acme/tool/pulls/5").await.json()["head"]["sha"], new.as_str());
    let runs =
        async |oid: &str| client.get(&format!("/repos/acme/tool/commits/{oid}/check-runs")).await.json();
    assert_eq!(runs(&new).await["total_count"], 0);
    assert_eq!(
        runs(&old).await["check_runs"].as_array().unwrap().iter().filter(|r| r["head_sha"] != *old).count(),
        0
    );
    twin.merge("acme/tool", 5);
    let merged = client.get("/repos/acme/tool/pulls/5").await.json();
    assert_eq!((&merged["state"], merged["merged_at"].is_string()), (&"closed".into(), true));
}

#[tokio::test]
async fn reviews_comments_and_files_are_those_of_the_world() {
    let twin = twin().await;
    let (pull, details) = twin.pull("acme/tool", 8).unwrap();
    let client = client(&twin);
    let read =
        async |part: &str| client.get(&format!("/repos/acme/tool/pulls/8/{part}?per_page=100")).await.json();
    assert_eq!(read("reviews").await.as_array().unwrap().len(), details.reviews.len());
    assert_eq!(read("files").await.as_array().unwrap().len(), details.files.len());
    let inline: usize = details.threads.iter().map(|thread| thread.comments.len()).sum();
    assert_eq!(read("comments").await.as_array().unwrap().len(), inline);
    twin.edit("acme/tool", 8, |_, details| {
        details.reviews = vec![Review::new(1, Actor::member("ben"), "APPROVED", &pull.head_oid)];
        details.reviews.push(Review { author: None, ..details.reviews[0].clone() });
    });
    let reviews = read("reviews").await;
    assert_eq!(
        (&reviews[0]["state"], &reviews[0]["author_association"]),
        (&"APPROVED".into(), &"MEMBER".into())
    );
    assert_eq!(reviews[1]["user"]["login"], "ghost");
}

#[tokio::test]
async fn an_issue_carries_what_a_projection_must_drop_and_a_pull_is_an_issue_too() {
    let twin = twin().await;
    let issue = anonymous(&twin).get("/repos/acme/tool/issues/1001").await.json();
    for field in ["body", "body_html", "timeline", "timeline_url", "reactions"] {
        assert!(issue.get(field).is_some(), "{field}");
    }
    assert_eq!((&issue["comments"], issue.get("pull_request")), (&1_000.into(), None));
    let pull = anonymous(&twin).get("/repos/acme/tool/issues/12").await.json();
    assert!(pull["pull_request"]["url"].as_str().unwrap().ends_with("/repos/acme/tool/pulls/12"));
    assert_eq!(anonymous(&twin).get("/repos/acme/tool/issues/99999").await.status, 404);
}

#[tokio::test]
async fn what_is_private_is_there_for_tokens_alone() {
    let twin = twin().await;
    assert_eq!(anonymous(&twin).get("/repos/acme/vault/pulls").await.status, 404);
    assert_eq!(client(&twin).get("/repos/acme/vault/pulls").await.json().as_array().unwrap().len(), 3);
    assert_eq!(anonymous(&twin).get("/user").await.status, 401);
    assert_eq!(client(&twin).get("/user").await.json()["login"], "ana");
}
