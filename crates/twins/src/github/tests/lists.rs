//! Lists: pages, links, filters, conversations.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{anonymous, client, twin};
use crate::front::client::{Client, Reply};
use crate::github::{Actor, PullState};

async fn walk(client: &Client, path: &str) -> (Vec<Value>, usize) {
    let (mut items, mut pages, mut next) = (Vec::new(), 0, Some(path.to_owned()));
    while let Some(path) = next {
        let page: Reply = client.get(&path).await;
        assert_eq!(page.status, 200, "{}", page.text());
        items.extend(page.json().as_array().unwrap().clone());
        next = page.link("next");
        pages += 1;
    }
    (items, pages)
}

fn numbers(items: &[Value]) -> Vec<u64> {
    items.iter().map(|item| item["number"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn a_list_is_walked_along_its_links_and_shows_each_pull_once() {
    let twin = twin().await;
    let path = "/repos/acme/tool/pulls?state=open&sort=created&direction=asc&per_page=100";
    let first = client(&twin).get(path).await;
    assert!(first.link("next").unwrap().starts_with(&format!("{}/repositories/", twin.base_url())));
    assert!(first.link("last").unwrap().ends_with("per_page=100&page=3"));
    assert_eq!((first.link("prev"), first.link("first")), (None, None));
    let (items, pages) = walk(&client(&twin), path).await;
    let expected: Vec<u64> =
        twin.pulls("acme/tool").iter().filter(|p| p.state == PullState::Open).map(|p| p.number).collect();
    assert_eq!((numbers(&items), pages, expected.len()), (expected, 3, 250));
    // Links go by repository id; the log names the repository all the same.
    assert!(twin.requests().iter().all(|request| request.route == "/repos/acme/tool/pulls"));
    assert_eq!(twin.requests()[2].argument("page"), Some("2"));
}

#[tokio::test]
async fn the_enterprise_base_is_kept_in_every_link() {
    let twin = twin().await;
    let path = "/api/v3/repos/acme/tool/pulls?per_page=100";
    let page = client(&twin).get(path).await;
    let base = format!("{}/", twin.enterprise_url());
    assert!(page.link("next").unwrap().starts_with(&base));
    assert!(page.json()[0]["url"].as_str().unwrap().starts_with(&base));
    assert_eq!(walk(&client(&twin), path).await.0.len(), 250);
    assert_eq!(client(&twin).get("/api/v3/graphql").await.status, 404);
}

#[tokio::test]
async fn states_orders_and_sizes_are_those_of_the_reference() {
    let twin = twin().await;
    let client = client(&twin);
    let list = async |query: &str| walk(&client, &format!("/repos/acme/tool/pulls?{query}")).await.0;
    assert_eq!(client.get("/repos/acme/tool/pulls").await.json().as_array().unwrap().len(), 30);
    assert_eq!(client.get("/repos/acme/tool/pulls?per_page=500").await.json().as_array().unwrap().len(), 100);
    assert_eq!(list("state=closed&per_page=100").await.len(), 50);
    let all = numbers(&list("state=all&per_page=100").await);
    assert_eq!((all.len(), all[0], all[299]), (300, 300, 1), "newest first");
    let updated = list("state=all&sort=updated&per_page=100").await;
    assert!(updated.is_sorted_by_key(|item| item["updated_at"].as_str().unwrap().to_owned()));
    assert!(list("base=release&per_page=100").await.iter().all(|item| item["base"]["ref"] == "release"));
    let refused = client.get("/repos/acme/tool/pulls?state=merged").await;
    assert_eq!((refused.status, refused.json()["errors"][0]["field"].clone()), (422, "state".into()));
    let one =
        twin.pulls("acme/tool").into_iter().find(|p| p.state == PullState::Open && p.head_repo.is_some());
    let one = one.unwrap();
    let head = format!("{}:{}", one.head_repo.unwrap().split('/').next().unwrap(), one.head);
    assert_eq!(numbers(&list(&format!("head={head}")).await), [one.number]);
}

#[tokio::test]
async fn a_thousand_comments_come_in_order_and_since_goes_by_the_last_change() {
    let twin = twin().await;
    let (all, pages) = walk(&anonymous(&twin), "/repos/acme/tool/issues/1001/comments?per_page=100").await;
    assert_eq!((all.len(), pages), (1_000, 10));
    let ids: BTreeSet<u64> = all.iter().map(|comment| comment["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), 1_000);
    assert!(all.is_sorted_by_key(|comment| comment["id"].as_u64()));
    let anchor = &all[989];
    let since = anchor["created_at"].as_str().unwrap();
    let path = format!("/repos/acme/tool/issues/1001/comments?since={since}&per_page=100");
    let (later, _) = walk(&anonymous(&twin), &path).await;
    assert!(later.len() >= 11 && later.iter().all(|one| one["updated_at"].as_str().unwrap() >= since));
    assert!(later.iter().any(|one| one["id"] == anchor["id"]), "the anchor itself is in it");
    let id = twin.comment("acme/tool", 1001, Actor::member("ben"), "fixed in main").unwrap();
    let said = anonymous(&twin).get(&format!("/repos/acme/tool/issues/comments/{id}")).await.json();
    assert_eq!((&said["author_association"], &said["user"]["login"]), (&"MEMBER".into(), &"ben".into()));
    twin.delete_comment("acme/tool", id);
    assert_eq!(anonymous(&twin).get(&format!("/repos/acme/tool/issues/comments/{id}")).await.status, 404);
    assert!(walk(&anonymous(&twin), "/repos/acme/tool/issues/1002/comments").await.0.is_empty());
}

#[tokio::test]
async fn the_same_seed_tells_the_same_world_and_another_seed_another() {
    let (one, two) = (twin().await, twin().await);
    let other = super::builder().seed(8).start().await.unwrap();
    assert_eq!(one.pull("acme/tool", 12), two.pull("ACME/Tool", 12));
    assert_ne!(one.pull("acme/tool", 12), other.pull("acme/tool", 12));
    let body = async |twin| client(twin).get("/repos/acme/tool/issues/12").await.header("etag").to_owned();
    let (first, second) = (one.pulls("acme/tool"), two.pulls("acme/tool"));
    assert_eq!(first, second);
    assert!(!body(&one).await.is_empty());
}
