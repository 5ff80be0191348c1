//! GraphQL: threads and discussions by variables.

use serde_json::{Value, json};

use super::{anonymous, builder, client, twin};
use crate::github::{Actor, Fault, FaultAction, GithubTwin, Thread, ThreadComment};

const THREADS: &str = "query Threads($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 50, after: $after) {
        totalCount
        pageInfo { hasNextPage endCursor }
        nodes { id isResolved isOutdated path line
          comments(first: 100) { nodes { databaseId body author { __typename login ... on User { databaseId } }
            originalCommit { oid } } } } } } }
}";
const DISCUSSION: &str = "query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) { discussion(number: $number) {
    title upvoteCount isAnswered category { name } author { login } comments { totalCount } } } }";

fn thread(at: u64) -> Thread {
    let comment = ThreadComment {
        id: at + 1,
        author: Actor::member("ben"),
        body: "please rename".into(),
        commit_oid: "a".repeat(40),
        created_secs: 1_767_225_600,
    };
    Thread {
        path: "src/a.rs".into(),
        line: Some(10),
        resolved: at.is_multiple_of(2),
        comments: vec![comment],
    }
}

async fn ask(twin: &GithubTwin, query: &str, variables: Value) -> Value {
    let reply = client(twin).post("/graphql", &json!({"query": query, "variables": variables})).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()
}

fn of_pull(number: u64, after: &Value) -> Value {
    json!({"owner": "acme", "name": "tool", "number": number, "after": after})
}

#[tokio::test]
async fn threads_are_read_page_by_page_with_their_resolution() {
    let twin = twin().await;
    twin.edit("acme/tool", 5, |_, details| details.threads = (0..120).map(thread).collect());
    let (mut after, mut nodes, mut pages) = (Value::Null, Vec::new(), 0);
    loop {
        let answer = ask(&twin, THREADS, of_pull(5, &after)).await;
        let page = &answer["data"]["repository"]["pullRequest"]["reviewThreads"];
        assert_eq!(page["totalCount"], 120, "{answer}");
        nodes.extend(page["nodes"].as_array().unwrap().clone());
        pages += 1;
        if page["pageInfo"]["hasNextPage"] == false {
            break;
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
    assert_eq!((nodes.len(), pages), (120, 3));
    assert_eq!((&nodes[0]["isResolved"], &nodes[119]["isResolved"]), (&true.into(), &false.into()));
    let comment = &nodes[7]["comments"]["nodes"][0];
    assert_eq!((&comment["databaseId"], &comment["author"]["login"]), (&8.into(), &"ben".into()));
    assert_eq!(comment["author"]["databaseId"], Actor::member("ben").id);
    assert_eq!(twin.requests()[0].header("content-type"), None);
    assert!(twin.requests()[0].body.contains("reviewThreads"));
}

#[tokio::test]
async fn a_discussion_is_found_by_variables_whatever_they_hold() {
    let twin = twin().await;
    let variables = json!({"owner": "acme", "name": "tool", "number": 1003});
    let found = ask(&twin, DISCUSSION, variables).await;
    let discussion = &found["data"]["repository"]["discussion"];
    assert_eq!(discussion["category"]["name"], "Q&A", "{found}");
    assert!(discussion.get("body").is_none(), "only what was asked for");
    let odd = json!({"owner": "a\"}){viewer{login}}", "name": "{}", "number": 1});
    let lost = ask(&twin, DISCUSSION, odd).await;
    assert_eq!(
        (&lost["data"]["repository"], &lost["errors"][0]["type"]),
        (&Value::Null, &"NOT_FOUND".into())
    );
    let missing = ask(&twin, DISCUSSION, json!({"owner": "acme", "name": "tool", "number": 4})).await;
    assert_eq!(missing["data"]["repository"]["discussion"], Value::Null);
}

#[tokio::test]
async fn what_does_not_fit_the_schema_is_refused() {
    let twin = twin().await;
    let error = async |query: &str| ask(&twin, query, json!({})).await["errors"][0].clone();
    let wrong = error("{ viewer { login, secret } }").await;
    assert_eq!(
        (&wrong["extensions"]["code"], &wrong["path"][1]),
        (&"undefinedField".into(), &"secret".into())
    );
    assert_eq!(
        error("{ repository(owner: $o, name: \"x\") { id } }").await["extensions"]["code"],
        "variableNotDefined"
    );
    assert!(
        error("query($o: String!) { viewer { login } }").await["message"].as_str().unwrap().contains("$o")
    );
    let pull = |inner: &str| {
        format!("{{repository(owner:\"acme\",name:\"tool\"){{pullRequest(number:5){{{inner}}}}}}}")
    };
    assert_eq!(error(&pull("reviews(first: 101) { totalCount }")).await["type"], "EXCESSIVE_PAGINATION");
    assert_eq!(error(&pull("reviews { nodes { id } }")).await["type"], "MISSING_PAGINATION_BOUNDARIES");
    assert_eq!(error(&pull("author { databaseId }")).await["extensions"]["fieldName"], "databaseId");
    assert_eq!(error(&pull("author")).await["extensions"]["code"], "selectionMismatch");
    assert!(error("{ viewer { login }").await["message"].is_string());
    let named = ask(&twin, "query { v: viewer { ...who } } fragment who on User { login }", json!({})).await;
    assert_eq!(named["data"]["v"]["login"], "ana");
}

#[tokio::test]
async fn graphql_needs_a_token_and_has_a_quota_and_a_base_of_its_own() {
    let twin = builder().quota(1).start().await.unwrap();
    let viewer = json!({"query": "{ viewer { login } }"});
    assert_eq!(anonymous(&twin).post("/graphql", &viewer).await.status, 401);
    let first = client(&twin).post("/api/graphql", &viewer).await;
    assert_eq!(
        (first.json()["data"]["viewer"]["login"].clone(), first.header("x-ratelimit-resource")),
        ("ana".into(), "graphql")
    );
    let limited = client(&twin).post("/graphql", &viewer).await;
    assert_eq!((limited.status, limited.header("x-ratelimit-remaining")), (200, "0"));
    assert_eq!(limited.json()["errors"][0]["type"], "RATE_LIMITED");
    assert_eq!(client(&twin).get("/user").await.status, 200, "REST is counted apart");
    twin.fault(Fault::once("/graphql", FaultAction::SecondaryLimit { status: 403, retry_after_secs: None }));
    assert_eq!(client(&twin).post("/api/graphql", &viewer).await.status, 403);
}
