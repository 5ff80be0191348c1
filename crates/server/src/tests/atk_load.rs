//! Slow, endless, deep and many.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use loom_domain::{AgentId, Code, Principal};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::time::Instant;

use super::house::{House, bearer, house, house_where, house_with, read_reply, request};
use crate::{ListenConfig, Scopes};

const JSON: &str = "content-type: application/json";

async fn change(house: &House, body: &str) -> (u16, Option<Code>) {
    let reply = house.as_owner("POST /v1/test/change", &[JSON], body).await;
    (reply.status, reply.code())
}

/// ATK-11: a head that never ends is closed, and a byte now and then does not help.
#[tokio::test]
async fn atk_11_slow_headers_are_closed() {
    let house = house_with(|config| config.connections.header_read = Duration::from_millis(300)).await;
    let mut stream = house.tcp().await;
    let started = Instant::now();
    let (mut read, mut write) = stream.split();
    let drip = async {
        while write.write_all(b"G").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        reply = read_reply(&mut read) => assert_eq!(reply.status, 0),
        () = drip => {}
    }
    assert!(started.elapsed() < Duration::from_secs(5));
}

/// ATK-11: idle connections are closed, those with a request in work are not.
#[tokio::test]
async fn atk_11_idle_connections_are_closed() {
    let house = house_with(|config| config.connections.idle = Duration::from_millis(100)).await;
    let mut stream = house.tcp().await;
    assert_eq!(read_reply(&mut stream).await.status, 0);
    let mut stream = tokio::net::UnixStream::connect(&house.socket).await.unwrap();
    stream.write_all(request("GET /v1/test/slow", "localhost", &[], "").as_bytes()).await.unwrap();
    let waited = tokio::time::timeout(Duration::from_millis(400), read_reply(&mut stream)).await;
    assert!(waited.is_err());
}

/// ATK-11, MSG-235: a body over the limit is 413 before any of it is parsed, announced or not.
#[tokio::test]
async fn msg_235_a_body_over_the_limit_is_not_parsed() {
    let house = house_with(|config| config.requests.body_bytes_max = 1_000).await;
    assert_eq!(change(&house, &"{".repeat(1_001)).await, (413, Some(Code::TooLarge)));
    let announced = house.as_owner("POST /v1/test/change", &[JSON, "content-length: 1000000000"], "").await;
    assert_eq!(announced.code(), Some(Code::TooLarge));
    let mut chunked = request("POST /v1/test/change", "localhost", &[JSON, "transfer-encoding: chunked"], "");
    for _ in 0..100 {
        chunked.push_str("64\r\n");
        chunked.push_str(&"x".repeat(100));
        chunked.push_str("\r\n");
    }
    let mut stream = tokio::net::UnixStream::connect(&house.socket).await.unwrap();
    stream.write_all(chunked.as_bytes()).await.unwrap();
    assert_eq!(read_reply(&mut stream).await.code(), Some(Code::TooLarge));
    assert_eq!(house.changes().await, 0);
    assert_eq!(change(&house, "{}").await.0, 200);
}

/// ATK-11: a body that does not come is 408; no credential is needed to see 401 before that.
#[tokio::test]
async fn atk_11_slow_bodies_time_out() {
    let house = house_with(|config| config.requests.body_read = Duration::from_millis(100)).await;
    let head = request("POST /v1/test/change", "localhost", &[JSON, "content-length: 10"], "");
    let mut stream = tokio::net::UnixStream::connect(&house.socket).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(b"{").await.unwrap();
    let reply = read_reply(&mut stream).await;
    assert_eq!((reply.status, reply.code()), (408, Some(Code::RequestTimeout)));
    let reply = house.over_tcp("POST /v1/test/change", &[JSON, "content-length: 10"], "").await;
    assert_eq!(reply.status, 401);
}

/// ATK-11: depth 100,000 and doubled keys are refused.
#[tokio::test]
async fn atk_11_deep_json_is_refused() {
    let house = house().await;
    for bad in ["[".repeat(100_000), "{\"a\":".repeat(100_000), r#"{"a":1,"a":2}"#.into(), "{".into()] {
        assert_eq!(change(&house, &bad).await, (400, Some(Code::InvalidJson)));
    }
    assert_eq!(house.changes().await, 0);
}

/// ATK-11, guard 2: long lines and many or large fields.
#[tokio::test]
async fn atk_11_long_lines_and_headers() {
    let house = house().await;
    let long = format!("GET /v1/healthz?{}", "a".repeat(4_096));
    assert_eq!(house.over_tcp(&long, &[], "").await.status, 414);
    let large = format!("x-large: {}", "a".repeat(16 * 1_024));
    assert_eq!(house.over_tcp("GET /v1/healthz", &[&large], "").await.status, 431);
    let endless = format!("x-large: {}", "a".repeat(1_024 * 1_024));
    assert_eq!(house.over_tcp("GET /v1/healthz", &[&endless], "").await.status, 431);
    let many = vec!["x-many: 1"; 63];
    assert_eq!(house.over_tcp("GET /v1/healthz", &many, "").await.status, 431);
    assert_eq!(house.over_tcp("GET /v1/healthz", &many[..62], "").await.status, 200);
    let absurd = vec!["x-many: 1"; 1_000];
    assert_eq!(house.over_tcp("GET /v1/healthz", &absurd, "").await.status, 431);
}

/// ATK-11: a flood of idle sockets of one peer leaves the others alone.
#[tokio::test]
async fn atk_11_floods_of_sockets_are_bounded() {
    let house = house().await;
    let mut held = Vec::new();
    for _ in 0..32 {
        held.push(house.tcp().await);
    }
    let refused = house.over_tcp("GET /v1/healthz", &[], "").await;
    assert_eq!(refused.status, 503);
    assert_eq!(house.as_owner("GET /v1/healthz", &[], "").await.status, 200);
    drop(held);
    let deadline = Instant::now() + Duration::from_secs(5);
    while house.over_tcp("GET /v1/healthz", &[], "").await.status != 200 {
        assert!(Instant::now() < deadline, "slots are given back");
    }
}

/// ATK-11: whoever of the same user holds idle connections open does not lock the owner out.
#[tokio::test]
async fn atk_11_idle_sockets_make_way_for_the_owner() {
    let house = house().await;
    let mut held = Vec::new();
    for _ in 0..64 {
        held.push(tokio::net::UnixStream::connect(&house.socket).await.unwrap());
    }
    assert_eq!(house.as_owner("GET /v1/healthz", &[], "").await.status, 200);
}

/// A server, the token of an Agent of it, and whether who connects is the Agent's runtime.
async fn house_of_an_agent(adjust: impl FnOnce(&mut ListenConfig)) -> (House, String, Arc<AtomicBool>) {
    let of_agent = Arc::new(AtomicBool::new(true));
    let told = Arc::clone(&of_agent);
    let house = house_where(adjust, move |_| told.load(Ordering::SeqCst)).await;
    let token = bearer(&house.hub.token(1, Principal::Agent(AgentId::new(1, 1)), Scopes::All));
    (house, token, of_agent)
}

/// ATK-11: an Agent that holds its whole share in event streams does not lock the owner out.
#[tokio::test]
async fn atk_11_streams_of_an_agent_do_not_lock_the_owner_out() {
    let (house, token, of_agent) = house_of_an_agent(|_| {}).await;
    let mut held = Vec::new();
    for _ in 0..32 {
        let mut stream = UnixStream::connect(&house.socket).await.unwrap();
        stream.write_all(request("GET /v1/events", "localhost", &[&token], "").as_bytes()).await.unwrap();
        let mut start = [0; 12];
        stream.read_exact(&mut start).await.unwrap();
        assert_eq!(&start, b"HTTP/1.1 200");
        held.push(stream);
    }
    assert_eq!(house.as_owner("GET /v1/test/any", &[&token], "").await.status, 503);
    of_agent.store(false, Ordering::SeqCst);
    assert_eq!(house.as_owner("GET /v1/test/any", &[], "").await.status, 200);
}

/// ATK-11: an Agent whose requests take every place in work leaves one to the owner.
#[tokio::test]
async fn atk_11_work_of_an_agent_does_not_lock_the_owner_out() {
    let (house, token, of_agent) = house_of_an_agent(|config| config.connections.in_work_max = 8).await;
    let headers = [token.as_str(), "content-type: application/octet-stream", "content-length: 1000"];
    let upload = request("POST /v1/test/upload", "localhost", &headers, "");
    let mut held = Vec::new();
    for _ in 0..8 {
        let mut stream = UnixStream::connect(&house.socket).await.unwrap();
        stream.write_all(upload.as_bytes()).await.unwrap();
        held.push(stream);
    }
    let deadline = Instant::now() + Duration::from_secs(5);
    while house.as_owner("GET /v1/test/any", &[&token], "").await.status != 503 {
        assert!(Instant::now() < deadline, "the Agent's places are bounded");
    }
    of_agent.store(false, Ordering::SeqCst);
    assert_eq!(house.as_owner("GET /v1/test/any", &[], "").await.status, 200);
}

/// Guard 1: more requests in work than the limit are turned away.
#[tokio::test]
async fn requests_in_work_are_bounded() {
    let house = house_with(|config| config.connections.in_work_max = 1).await;
    let mut slow = tokio::net::UnixStream::connect(&house.socket).await.unwrap();
    slow.write_all(request("GET /v1/test/slow", "localhost", &[], "").as_bytes()).await.unwrap();
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let reply = house.over_tcp("GET /v1/healthz", &[], "").await;
        if reply.status == 503 {
            assert_eq!(reply.header("retry-after"), Some("1"));
            break;
        }
        assert!(Instant::now() < deadline, "the limit holds");
    }
}

/// Guard 8: a principal's bucket empties, another's does not.
#[tokio::test]
async fn requests_of_a_principal_are_metered() {
    let house = house_with(|config| {
        config.requests.rate_burst = 3;
        config.requests.rate_per_s = 1;
    })
    .await;
    for _ in 0..3 {
        assert_eq!(house.as_owner("GET /v1/test/any", &[], "").await.status, 200);
    }
    let over = house.as_owner("GET /v1/test/any", &[], "").await;
    assert_eq!(
        (over.status, over.code(), over.header("retry-after")),
        (429, Some(Code::RateLimited), Some("1"))
    );
    assert_eq!(house.over_tcp("GET /v1/healthz", &[], "").await.status, 200);
}

/// Guard 9: uploads stream, and end at their own size and speed limits.
#[tokio::test]
async fn uploads_are_bounded() {
    let house = house_with(|config| {
        config.requests.artifact_bytes_max = 2_000_000;
        config.requests.body_read = Duration::from_millis(200);
        config.requests.upload_bytes_per_s_min = 1_000_000;
    })
    .await;
    let raw = "content-type: application/octet-stream";
    let fits = house.as_owner("POST /v1/test/upload", &[raw], &"x".repeat(1_900_000)).await;
    assert_eq!((fits.status, fits.body.as_str()), (200, "1900000"));
    let announced = house.as_owner("POST /v1/test/upload", &[raw, "content-length: 2000001"], "").await;
    assert_eq!(announced.code(), Some(Code::TooLarge));
    let slow = house.as_owner("POST /v1/test/upload", &[raw, "content-length: 1000"], "").await;
    assert_eq!(slow.code(), Some(Code::RequestTimeout));
    assert_eq!(house.as_owner("POST /v1/test/upload", &[JSON], "{}").await.status, 415);
}
