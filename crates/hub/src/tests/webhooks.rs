//! What comes in by a route: once for what is signed, and again later after a failure of ours.

use std::os::unix::fs::PermissionsExt as _;

use bytes::Bytes;
use loom_api::query::Paging;
use loom_api::request::{Deliver, PutEndpoint};
use loom_capabilities::http_webhook::signature::SigningKey;
use loom_domain::{Code, Principal, Result};
use loom_secrets::Secret;
use serde_json::json;

use super::house::House;
use crate::{Hook, Taken};

const BODY: &str = r#"[{"source":"s","id":"1"},{"n":2}]"#;
/// HMAC-SHA-256 of the body under the secret that every variable of the house holds.
const SIGNATURE: &str = "sha256=dc1ca7ff66e8aea4782c7d2270bd99d33209f2535dbd635f126f0fd3e0a6e4ad";

async fn endpoint(house: &House, scheme: &str, secret_ref: &str) {
    let request = PutEndpoint {
        name: "hooks".to_owned(),
        url: "https://hooks.example/in".to_owned(),
        secret_ref: secret_ref.to_owned(),
        event_types: Vec::new(),
        envelope: None,
        scheme: Some(scheme.to_owned()),
    };
    house.hub().put_endpoint(Principal::Owner, request).await.unwrap();
}

fn named(headers: &[(&str, &str)]) -> Vec<(String, String)> {
    headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

async fn receive(house: &House, headers: &[(&str, &str)]) -> Result<Taken> {
    let hook = Hook { headers: named(headers), body: Bytes::from_static(BODY.as_bytes()) };
    house.hub().receive_hook("hooks".to_owned(), hook).await
}

async fn of_github(house: &House, kind: &str, id: &str) -> Result<Taken> {
    let signed = ("x-hub-signature-256", SIGNATURE);
    receive(house, &[signed, ("content-type", kind), ("ce-source", "evil"), ("ce-id", id)]).await
}

/// CAP-112: headers that nobody signed make no new event of a delivery that was seen, its type among them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cap_112_a_changed_ce_id_is_a_duplicate() {
    let house = House::up().await;
    endpoint(&house, "github", "env:HOOK").await;
    assert_eq!(of_github(&house, "application/json", "1").await.unwrap(), Taken::Accepted);
    assert_eq!(of_github(&house, "application/json", "2").await.unwrap(), Taken::Duplicate);
    let batch = "application/cloudevents-batch+json";
    assert_eq!(of_github(&house, batch, "1").await.unwrap(), Taken::Duplicate);
    let events = house.store().hook_events("hooks".to_owned(), Paging::default()).await.unwrap().items;
    assert_eq!(events.len(), 1);
    house.end().await;
}

/// CAP-112: in a batch, events without ids of their own are told apart by their position.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cap_112_events_of_a_batch_without_ids_all_count() {
    let house = House::up().await;
    let file = house.path("hook.secret");
    let secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3";
    std::fs::write(&file, secret).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    endpoint(&house, "standard", &format!("file:{}", file.display())).await;
    let at = house.now().0.div_euclid(1_000);
    let body = r#"[{"n":1},{"n":2},{"n":3}]"#;
    let signature = SigningKey::parse(&Secret::new(secret)).unwrap().sign("msg_1", at, body.as_bytes());
    let headers = named(&[
        ("webhook-id", "msg_1"),
        ("webhook-timestamp", &at.to_string()),
        ("webhook-signature", &signature),
        ("content-type", "application/cloudevents-batch+json"),
    ]);
    for taken in [Taken::Accepted, Taken::Duplicate] {
        let hook = Hook { headers: headers.clone(), body: Bytes::from_static(body.as_bytes()) };
        assert_eq!(house.hub().receive_hook("hooks".to_owned(), hook).await.unwrap(), taken);
    }
    let events = house.store().hook_events("hooks".to_owned(), Paging::default()).await.unwrap().items;
    assert_eq!(events.len(), 3);
    house.end().await;
}

/// CAP-110, ATK-14: a previous secret that is gone closes no route; a secret that is gone does; one that cannot be
/// read now is a failure of ours, and nothing of it is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cap_110_atk_14_only_a_missing_secret_is_no_route() {
    let house = House::up().await;
    let file = house.path("hook.secret");
    let of_file = format!("file:{}", file.display());
    assert_eq!(of_github(&house, "application/json", "1").await.unwrap_err().code, Code::NotFound);
    endpoint(&house, "github", &of_file).await;
    assert_eq!(of_github(&house, "application/json", "1").await.unwrap_err().code, Code::NotFound);
    std::fs::write(&file, "a secret that anyone may read").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let failed = of_github(&house, "application/json", "1").await.unwrap_err();
    assert!(failed.code.http() >= 500, "{failed}");
    assert!(!format!("{failed:?}").contains("hook.secret"), "{failed:?}");
    endpoint(&house, "github", "env:HOOK").await;
    assert_eq!(of_github(&house, "application/json", "1").await.unwrap(), Taken::Accepted);
    house.end().await;
}

/// CAP-110: a secret that can be read but is no signing key is a failure of ours, not a bad signature; one that is,
/// beside it, serves.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cap_110_a_secret_that_is_no_key_is_no_bad_signature() {
    let house = House::up().await;
    endpoint(&house, "standard", "env:HOOK").await;
    let headers = [
        ("webhook-id", "msg_1"),
        ("webhook-timestamp", "1"),
        ("webhook-signature", "v1,AAAA"),
        ("content-type", "application/json"),
    ];
    let failed = receive(&house, &headers).await.unwrap_err();
    assert!(failed.code.http() >= 500, "{failed}");
    assert!(!format!("{failed:?}").contains("whsec_"), "nothing of the cause goes out: {failed:?}");
    let file = house.path("hook.secret");
    std::fs::write(&file, "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    endpoint(&house, "standard", &format!("file:{}", file.display())).await;
    assert_eq!(receive(&house, &headers).await.unwrap_err().code, Code::SignatureInvalid);
    house.end().await;
}

/// CAP-111: an id stands for its data.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cap_111_an_id_with_other_data_is_a_conflict() {
    let house = House::up().await;
    endpoint(&house, "standard", "env:HOOK").await;
    let add = async |data| {
        let request = Deliver {
            endpoint: "hooks".to_owned(),
            r#type: "a.b".to_owned(),
            data,
            id: Some("msg_1".to_owned()),
        };
        house.hub().add_delivery(Principal::Owner, request).await
    };
    let first = add(json!({"a": 1, "b": 2})).await.unwrap();
    let again = add(json!({"b": 2, "a": 1})).await.unwrap();
    assert_eq!(again.delivery.seq, first.delivery.seq);
    assert_eq!(add(json!({"a": 2})).await.unwrap_err().code, Code::IdempotencyConflict);
    house.end().await;
}
