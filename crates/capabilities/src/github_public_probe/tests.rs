use std::sync::Arc;

use loom_transport::MockBackend;
use loom_transport::backend::mock::{Answer, Expectation};
use serde_json::json;

use super::*;
use crate::{NoObserver, Payload, World};

const ISSUE: &str = "https://github.com/owner/repo/issues/123";

async fn probe_in(world: &World, input: Value) -> Result<Payload> {
    let request = RunRequest { input, ..RunRequest::default() };
    crate::run(world, &GithubPublicProbe::new(), request, None, &mut NoObserver).await
}

async fn probe(backend: &Arc<MockBackend>, input: Value) -> Result<Payload> {
    probe_in(&World::over(backend.clone()), input).await
}

fn raw_issue() -> Value {
    json!({
        "title": "Parser fails", "state": "open", "state_reason": null, "number": 123, "draft": false, "locked": false,
        "labels": [{"name": "bug", "color": "f00"}, {"name": "parser"}], "comments": 4,
        "user": {"login": "kim", "id": 9, "type": "User", "avatar_url": "https://x.example/a.png"},
        "author_association": "CONTRIBUTOR", "created_at": "2026-09-01T08:00:00Z", "updated_at": "2026-09-02T08:00:00Z",
        "closed_at": null, "html_url": ISSUE, "body": "SECRET BODY", "timeline_url": "https://x.example", "reactions": {"+1": 1},
        "pull_request": {"merged_at": null},
    })
}

fn answers(answer: Answer) -> Arc<MockBackend> {
    let backend = MockBackend::new();
    backend.expect(
        Expectation::new("GET").host("api.github.com").path("/repos/owner/repo/issues/123").answer(answer),
    );
    Arc::new(backend)
}

/// CAP-001: an address alone opens nothing.
#[tokio::test]
async fn cap_001_an_address_alone_opens_nothing() {
    let backend = Arc::new(MockBackend::new());
    let payload = probe(&backend, json!({"url": ISSUE})).await.unwrap();
    assert!(backend.seen().is_empty());
    assert_eq!((payload.ok, payload.connector_id.as_str()), (true, "github_public_probe"));
    assert_eq!(
        payload.fields["ref"],
        json!({"owner": "owner", "repo": "repo", "kind": "issue", "number": 123, "url": ISSUE})
    );
    assert!(payload.fields["metadata"].is_null() && payload.fields["next_step"].is_string());
    assert_eq!(payload.source_refs[0].r#ref, "github.com/owner/repo#123");
    assert_eq!(payload.effects, crate::Effects::default());
    assert_eq!(payload.provenance.api_base.as_deref(), Some("https://api.github.com"));
}

/// CAP-009: without a target it tells about itself.
#[tokio::test]
async fn cap_009_a_probe_without_a_target_tells_about_itself() {
    let payload = probe(&Arc::default(), json!({})).await.unwrap();
    assert_eq!(payload.fields["readiness"]["status"], "ready");
    assert_eq!((payload.content_trust, payload.ok), ("trusted", true));
}

/// CAP-076: one document is read, and no text of it stays.
#[tokio::test]
async fn cap_076_metadata_without_texts() {
    let backend = answers(Answer::json(&raw_issue()));
    let payload = probe(&backend, json!({"url": ISSUE, "fetch_metadata": true})).await.unwrap();
    backend.verify().unwrap();
    let metadata = &payload.fields["metadata"];
    assert_eq!(metadata["labels"], json!(["bug", "parser"]));
    assert_eq!(metadata["author"], json!({"login": "kim", "id": 9, "type": "user"}));
    assert_eq!(
        (&metadata["created_at"], &metadata["trust"]),
        (&json!("2026-09-01T08:00:00.000Z"), &json!("contributor"))
    );
    assert_eq!((payload.effects.requests_sent, payload.effects.external_reads), (1, 1));
    assert_eq!(payload.provenance.request_ids.len(), 1);
    assert_eq!(
        payload.redaction.dropped_fields, 5,
        "body, timeline_url, reactions, pull_request, avatar_url"
    );
    let text = serde_json::to_string(&payload).unwrap();
    assert!(!text.contains("SECRET BODY") && !text.contains("avatar_url"));
    assert!(text.len() <= 4 * 1024, "CAP-036: {}", text.len());
    let seen = backend.seen();
    assert_eq!(seen[0].headers["accept"], "application/vnd.github+json");
    assert_eq!(seen[0].headers["x-github-api-version"], "2022-11-28");
    assert!(seen[0].headers.get("authorization").is_none());
}

/// CAP-034, CAP-085: what failed was not read; a 404 may be private.
#[tokio::test]
async fn cap_034_failures_count_no_reads() {
    let input = json!({"url": ISSUE, "fetch_metadata": true});
    let gone = probe(&answers(Answer::status(404)), input.clone()).await.unwrap();
    let error = gone.error.unwrap();
    assert_eq!((error.code, &error.detail["maybe_private"]), (Code::ProviderHttpError, &json!(true)));
    assert_eq!((gone.ok, gone.effects.requests_sent, gone.effects.external_reads), (false, 1, 0));
    let backend = MockBackend::new();
    backend.expect(Expectation::new("GET").answer(Answer::dns()).times(3));
    tokio::time::pause();
    let unresolved = probe(&Arc::new(backend), input).await.unwrap();
    assert_eq!((unresolved.effects.requests_sent, unresolved.effects.external_reads), (0, 0));
    assert_eq!(unresolved.error.unwrap().code, Code::ProviderNetworkError);
}

/// CAP-070: equal facts at other times have an equal digest; one changed field changes it.
#[tokio::test]
async fn cap_070_equal_facts_have_equal_digests() {
    let input = json!({"url": ISSUE, "fetch_metadata": true});
    let first = probe(&answers(Answer::json(&raw_issue())), input.clone()).await.unwrap();
    let again = probe(&answers(Answer::json(&raw_issue())), input.clone()).await.unwrap();
    assert_eq!(first.content_digest, again.content_digest);
    assert_ne!(first.payload_id, again.payload_id);
    let mut changed = raw_issue();
    changed["title"] = json!("Parser failed");
    let changed = probe(&answers(Answer::json(&changed)), input).await.unwrap();
    assert_ne!(first.content_digest, changed.content_digest);
}

fn with_environment(backend: &Arc<MockBackend>, variables: &'static [(&'static str, &'static str)]) -> World {
    let world = World::over(backend.clone());
    let find =
        |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    let resolver = loom_secrets::Resolver::new(world.redactor.clone(), Arc::new(find));
    world.with_credentials(resolver, find)
}

/// CAP-087, CAP-086: the first token of the public site is used there; another base URL gets another one or none.
#[tokio::test]
async fn cap_087_token_order() {
    const ELSEWHERE: &[(&str, &str)] =
        &[("GITHUB_TOKEN", "first-token"), ("LOOM_GITHUB_API_URL", "https://git.example/api/v3")];
    const ALL: &[(&str, &str)] = &[
        ("GH_TOKEN", "second-token"),
        ("GITHUB_TOKEN", "first-token"),
        ("GH_ENTERPRISE_TOKEN", "third-token"),
    ];
    let backend = answers(Answer::json(&raw_issue()));
    let payload = probe_in(&with_environment(&backend, ALL), json!({"url": ISSUE, "fetch_metadata": true}))
        .await
        .unwrap();
    assert_eq!(backend.seen()[0].headers["authorization"], "Bearer first-token");
    assert_eq!(payload.provenance.credential.unwrap()["source"], "env:GITHUB_TOKEN");

    let backend = Arc::new(MockBackend::new());
    backend.expect(
        Expectation::new("GET")
            .host("git.example")
            .path("/api/v3/repos/owner/repo/issues/123")
            .answer(Answer::json(&raw_issue())),
    );
    let input = json!({"url": "https://git.example/owner/repo/issues/123", "fetch_metadata": true});
    let payload = probe_in(&with_environment(&backend, ELSEWHERE), input).await.unwrap();
    backend.verify().unwrap();
    assert!(payload.ok && backend.seen()[0].headers.get("authorization").is_none());
}

/// CAP-077: what an address holds stands in the variables, and never in the query.
#[tokio::test]
async fn cap_077_discussions_use_variables() {
    let url = "https://github.com/owner/repo/discussions/5";
    let input = json!({"url": url, "fetch_metadata": true});
    let without = probe(&Arc::default(), input.clone()).await.unwrap();
    assert_eq!((without.error.unwrap().code, without.effects.requests_sent), (Code::NotReady, 0));
    let answer = json!({"data": {"repository": {"discussion": {
        "title": "\"}){evil}", "number": 5, "locked": false, "url": url, "createdAt": "2026-09-01T08:00:00Z", "closed": false,
        "isAnswered": true, "upvoteCount": 3, "authorAssociation": "NONE", "author": {"__typename": "User", "login": "kim", "databaseId": 9},
        "category": {"name": "Q&A"}, "labels": {"nodes": []}, "comments": {"totalCount": 2},
    }}}});
    let backend = Arc::new(MockBackend::new());
    let variables =
        json!({"query": DISCUSSION, "variables": {"owner": "owner", "name": "repo", "number": 5}});
    backend.expect(Expectation::new("POST").path("/graphql").json(variables).answer(Answer::json(&answer)));
    let world = with_environment(&backend, &[("GH_TOKEN", "some-token")]);
    let payload = probe_in(&world, input).await.unwrap();
    backend.verify().unwrap();
    let metadata = &payload.fields["metadata"];
    assert_eq!(
        (&metadata["category"], &metadata["answered"], &metadata["upvotes"]),
        (&json!("Q&A"), &json!(true), &json!(3))
    );
    assert_eq!((payload.effects.external_reads, payload.effects.external_writes), (1, 0));
}

/// CAP-060, CAP-061: a token that comes back in an answer is in no payload.
#[tokio::test]
async fn cap_060_cap_061_an_echoed_token_is_masked() {
    let mut echo = raw_issue();
    echo["title"] = json!("you sent first-token, thanks");
    let backend = answers(Answer::json(&echo));
    let world = with_environment(&backend, &[("GITHUB_TOKEN", "first-token")]);
    let payload = probe_in(&world, json!({"url": ISSUE, "fetch_metadata": true})).await.unwrap();
    assert_eq!(payload.fields["metadata"]["title"], "you sent [redacted:exact_secret], thanks");
    assert_eq!(payload.redaction.rules[0]["rule"], "exact_secret");
    assert_eq!(payload.redaction.rules[0]["pointers"][0], "/fields/metadata/title");
}

/// CAP-020: a plan opens nothing and names what would be asked.
#[tokio::test]
async fn cap_020_a_plan_opens_nothing() {
    let backend = Arc::new(MockBackend::new());
    let request =
        RunRequest { input: json!({"url": ISSUE, "fetch_metadata": true}), ..RunRequest::default() };
    let plan = crate::plan(&World::over(backend.clone()), &GithubPublicProbe::new(), request).unwrap();
    assert_eq!(plan.requests[0].url, "https://api.github.com/repos/owner/repo/issues/123");
    assert_eq!((plan.hosts[0].host.as_str(), plan.hosts[0].verdict), ("api.github.com:443", "allowed"));
    assert_eq!(plan.resources["repo"], "owner/repo");
    assert!(backend.seen().is_empty());
}
