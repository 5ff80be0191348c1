//! Who is at the other end, start and stop.

use std::sync::Arc;
use std::time::Duration;

use loom_domain::{Code, Principal};
use tokio_util::sync::CancellationToken;

use super::house::{bearer, doors, house, house_where};
use crate::{ListenConfig, Scopes, Server};

/// ID-6: a process that descends from a runtime child is not the owner; its token still counts.
#[tokio::test]
async fn id_6_runtime_children_need_their_token() {
    let parent = std::os::unix::process::parent_id();
    let house = house_where(|_| {}, move |pid| pid == parent).await;
    assert_eq!(house.as_owner("GET /v1/test/any", &[], "").await.code(), Some(Code::Unauthenticated));
    let token = house.hub.token(1, Principal::Agent(loom_domain::AgentId::new(1, 1)), Scopes::All);
    assert_eq!(house.as_owner("GET /v1/test/any", &[&bearer(&token)], "").await.status, 200);
}

/// ATK-12: an open address without TLS is refused before a port is open.
#[tokio::test]
async fn atk_12_open_address_is_refused_at_start() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:4870"] {
        let config = ListenConfig { address: address.parse().ok(), ..ListenConfig::default() };
        let refused =
            Server::bind(config, doors(&Arc::default()), CancellationToken::new()).await.err().unwrap();
        assert_eq!(refused.code, Code::InsecureBind, "{address}");
    }
}

/// A stopped server ends its streams and removes its socket.
#[tokio::test]
async fn stop_ends_streams_and_removes_the_socket() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("loom.sock");
    let stop = CancellationToken::new();
    let config = ListenConfig { address: None, socket: Some(socket.clone()), ..ListenConfig::default() };
    let server = Server::bind(config, doors(&Arc::default()), stop.clone()).await.unwrap();
    assert!(server.local_addr().is_none() && server.socket_path() == Some(socket.as_path()));
    let task = tokio::spawn(server.serve());
    let mut stream = tokio::net::UnixStream::connect(&socket).await.unwrap();
    let text = super::house::request("GET /v1/events", "loom", &[], "");
    tokio::io::AsyncWriteExt::write_all(&mut stream, text.as_bytes()).await.unwrap();
    stream.readable().await.unwrap();
    stop.cancel();
    let reply = super::house::read_reply(&mut stream).await;
    assert_eq!(reply.status, 200);
    tokio::time::timeout(Duration::from_secs(5), task).await.unwrap().unwrap();
    assert!(!socket.exists());
}

#[tokio::test]
async fn the_socket_owner_needs_no_token() {
    let house = house().await;
    let reply = house.as_owner("GET /v1/test/any", &[], "").await;
    assert_eq!((reply.status, reply.body.as_str()), (200, "owner"));
}
