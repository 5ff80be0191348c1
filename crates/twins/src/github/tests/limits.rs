//! Quotas, secondary limits, conditional requests.

use std::time::Duration;

use super::{anonymous, builder, client, twin};
use crate::github::{Fault, FaultAction};

const PULLS: &str = "/repos/acme/tool/pulls";
const ISSUE: &str = "/repos/acme/tool/issues/1001";

#[tokio::test]
async fn a_304_costs_nothing_with_a_token_and_one_request_without() {
    let twin = twin().await;
    for (client, free) in [(client(&twin), true), (anonymous(&twin), false)] {
        let first = client.get(ISSUE).await;
        let again = client.clone().with("if-none-match", first.header("etag")).get(ISSUE).await;
        assert_eq!((again.status, again.body.len(), again.header("etag")), (304, 0, first.header("etag")));
        assert_eq!(again.header("x-ratelimit-used") == first.header("x-ratelimit-used"), free);
        let stale = client.clone().with("if-none-match", "W/\"0\"").get(ISSUE).await;
        assert_eq!(stale.status, 200);
    }
    let tag = client(&twin).get(PULLS).await.header("etag").to_owned();
    twin.push("acme/tool", 299);
    assert_eq!(client(&twin).with("if-none-match", &tag).get(PULLS).await.status, 200, "a push changes it");
}

#[tokio::test]
async fn the_primary_limit_answers_403_until_the_reset() {
    let twin = builder().quota(2).quota_window(Duration::from_secs(1)).start().await.unwrap();
    let client = client(&twin);
    let first = client.get(ISSUE).await;
    assert_eq!((first.header("x-ratelimit-limit"), first.header("x-ratelimit-remaining")), ("2", "1"));
    assert_eq!(first.header("x-ratelimit-resource"), "core");
    client.get(ISSUE).await;
    let refused = client.get(ISSUE).await;
    // The window may have ended between two requests of a slow machine.
    if refused.status == 403 {
        assert_eq!((refused.header("x-ratelimit-remaining"), refused.header("retry-after")), ("0", ""));
        assert!(
            refused.json()["message"].as_str().unwrap().starts_with("API rate limit exceeded for user ID")
        );
    }
    let free = client.get("/rate_limit").await;
    assert_eq!((free.status, free.json()["resources"]["core"]["limit"].clone()), (200, 2.into()));
    let served = async {
        while client.get(ISSUE).await.status != 200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), served).await.unwrap();
}

#[tokio::test]
async fn the_quota_that_is_left_can_be_set_and_accounts_are_counted_apart() {
    let twin = twin().await;
    twin.leave_quota(1, Duration::from_secs(600));
    assert_eq!(client(&twin).get(ISSUE).await.header("x-ratelimit-remaining"), "0");
    assert_eq!(client(&twin).get(ISSUE).await.status, 403);
    assert_eq!(anonymous(&twin).get(ISSUE).await.status, 200);
    let message = anonymous(&twin).get(ISSUE).await.json()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("127.0.0.1"), "{message}");
}

#[tokio::test]
async fn limits_come_as_planned() {
    let twin = twin().await;
    twin.fault(Fault::once(PULLS, FaultAction::PrimaryLimit { status: 429, reset_secs: 30 }));
    twin.fault(Fault::once(PULLS, FaultAction::SecondaryLimit { status: 403, retry_after_secs: Some(7) }));
    twin.fault(Fault::once(PULLS, FaultAction::SecondaryLimit { status: 429, retry_after_secs: None }));
    let primary = client(&twin).get(PULLS).await;
    assert_eq!((primary.status, primary.header("x-ratelimit-remaining")), (429, "0"));
    let told = client(&twin).get(PULLS).await;
    assert_eq!((told.status, told.header("retry-after")), (403, "7"));
    assert!(told.json()["message"].as_str().unwrap().contains("secondary rate limit"));
    assert_ne!(told.header("x-ratelimit-remaining"), "0");
    let bare = client(&twin).get(PULLS).await;
    assert_eq!((bare.status, bare.header("retry-after")), (429, ""));
    assert_eq!(client(&twin).get(PULLS).await.status, 200);
}

#[tokio::test]
async fn too_many_at_once_meet_the_secondary_limit_and_are_counted() {
    let twin = builder().in_flight_max(2).latency(Duration::from_millis(300)).start().await.unwrap();
    let asking: Vec<_> = (0..5)
        .map(|_| {
            let client = client(&twin);
            tokio::spawn(async move { client.get(ISSUE).await.status })
        })
        .collect();
    let mut statuses = Vec::new();
    for asked in asking {
        statuses.push(asked.await.unwrap());
    }
    let refused = statuses.iter().filter(|status| **status == 403).count();
    let in_flight: Vec<usize> = twin.requests().iter().map(|request| request.in_flight).collect();
    assert_eq!(refused, in_flight.iter().filter(|count| **count > 2).count());
    assert_eq!(twin.in_flight_max(), in_flight.into_iter().max().unwrap());
    assert!(twin.busiest(Duration::from_secs(60)) == 5);
}
