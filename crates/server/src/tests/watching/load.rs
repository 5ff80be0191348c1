//! Slow, endless and too large requests end at their limits while others are served.

use std::time::Duration;

use loom_domain::Code;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::super::house::{bearer, read_reply, request};
use super::Watch;

const SOON: Duration = Duration::from_secs(20);

async fn watch() -> Watch {
    Watch::with(|config| {
        config.connections.connections_max = 400;
        config.connections.per_peer_max = 300;
        config.connections.header_read = Duration::from_millis(300);
        config.connections.idle = Duration::from_millis(300);
    })
    .await
}

/// CAP-145, ATK-S11: two hundred half-open sockets, a slow head, an endless body and a body over the limit.
#[tokio::test]
async fn cap_145_slow_and_large_requests_end_at_their_limits() {
    let watch = watch().await;
    let mut open = Vec::new();
    for n in 0..200_u32 {
        let mut stream = TcpStream::connect(watch.address).await.unwrap();
        if n % 2 == 0 {
            stream.write_all(b"GET /status.json HTTP/1.1\r\nx-slow: ").await.unwrap();
        }
        open.push(stream);
    }
    let served = timeout(SOON, watch.viewer("GET /status.json", &[])).await.unwrap();
    assert_eq!(served.status, 200, "others are served meanwhile");
    for mut stream in open {
        let _ = read_reply(&mut stream).await;
    }
    let host = watch.address.to_string();
    let large = [&bearer(&watch.token), "content-length: 70000"];
    let reply = watch.raw(request("GET /status.json", &host, &large, "")).await;
    assert_eq!((reply.status, reply.code()), (413, Some(Code::TooLarge)), "{}", reply.body);
    let endless = [&bearer(&watch.token), "transfer-encoding: chunked"];
    let mut stream = TcpStream::connect(watch.address).await.unwrap();
    stream.write_all(request("GET /healthz", &host, &endless, "").as_bytes()).await.unwrap();
    let chunk = format!("1000\r\n{}\r\n", "[".repeat(0x1000));
    while timeout(SOON, stream.write_all(chunk.as_bytes())).await.unwrap().is_ok() {}
    let deep = watch.raw(request("POST /status.json", &host, &large[..1], &"[".repeat(65))).await;
    assert_eq!(deep.status, 405, "no route reads a document");
    let fields: Vec<String> = (0..101).map(|n| format!("x-{n}: 1")).collect();
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    assert!(matches!(watch.bare("GET /healthz", &fields).await.status, 431));
    assert_eq!(watch.bare(&format!("GET /healthz?{}", "a".repeat(9_000)), &[]).await.status, 414);
    assert_eq!(watch.bare("GET /healthz", &[]).await.status, 200);
}
