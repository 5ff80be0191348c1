//! The official GitHub client against the GitHub twin: what it accepts is what the real service would have to send.

use loom_twins::github::{GithubTwin, Issue, Repo};
use serde_json::Value;

use crate::peers_slack::node;

const TOKEN: &str = "ghp_twin_0000000000000000000000000000";

async fn twin() -> GithubTwin {
    let tool = Repo::new("acme/tool").open_pulls(230).closed_pulls(20).issue(Issue::new(1001, 1_000));
    GithubTwin::builder().seed(7).repo(tool).token(TOKEN, "ana").start().await.unwrap()
}

/// Runs Octokit against one of the two bases and checks what it and the twin saw.
async fn drive(twin: &GithubTwin, base: &str, graphql: &str) {
    let printed = node("github_octokit.mjs", &[base, graphql, "230"]).await;
    let line = printed.lines().rfind(|line| line.starts_with('{')).unwrap();
    let result: Value = serde_json::from_str(line).unwrap();
    assert_eq!(
        (&result["ok"], &result["pages"], &result["limits"]),
        (&true.into(), &3.into(), &3.into()),
        "{line}"
    );
    let (_, details) = twin.pull("acme/tool", 1).unwrap();
    assert_eq!(result["reviews"], details.reviews.len(), "{line}");
    let lists = twin.requests_to("/repos/acme/tool/pulls");
    assert_eq!(lists.len(), 3);
    let bearer = format!("token {TOKEN}");
    assert!(lists.iter().all(|request| request.authorization.as_deref() == Some(bearer.as_str())));
}

#[tokio::test(flavor = "multi_thread")]
async fn peers_github_octokit_reads_the_twin() {
    let twin = twin().await;
    drive(&twin, &twin.base_url(), &twin.base_url()).await;
    twin.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn peers_github_octokit_reads_the_twin_as_an_enterprise_server() {
    let twin = twin().await;
    // Octokit finds the GraphQL endpoint of an enterprise server from its REST base.
    drive(&twin, &twin.enterprise_url(), &twin.enterprise_url()).await;
    assert!(twin.requests().iter().any(|request| request.path == "/api/graphql"));
    twin.shutdown().await;
}
