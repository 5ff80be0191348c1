//! MSG-040, CAP-052: proxies for requests, uploads and websockets.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use futures_util::{SinkExt, StreamExt};
use loom_domain::Code;
use loom_transport::{
    Multipart, Proxy, ProxySetting, Settings, Transport, WebSocketOptions, Written, bytes_written,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_tungstenite::tungstenite::Message;

use crate::support::{Peer, builder, ok_json, read_request};
use crate::websockets::Echo;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Http,
    Socks,
}

/// A proxy that notes the targets it was asked for.
struct Stub {
    address: SocketAddr,
    targets: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Stub {
    async fn start(kind: Kind) -> Stub {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let targets = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&targets);
        let task = tokio::spawn(async move {
            let mut set = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                set.spawn(tunnel(kind, stream, Arc::clone(&seen)));
            }
        });
        Stub { address, targets, task }
    }

    fn setting(&self, scheme: &str, no_proxy: &str) -> ProxySetting {
        ProxySetting::fixed(Proxy::parse(&format!("{scheme}://{}", self.address)).unwrap(), no_proxy)
    }

    fn targets(&self) -> Vec<String> {
        self.targets.lock().unwrap().clone()
    }
}

async fn tunnel(kind: Kind, mut stream: TcpStream, seen: Arc<Mutex<Vec<String>>>) {
    let target = match kind {
        Kind::Http => {
            let Some(request) = read_request(&mut stream).await else { return };
            request.split(' ').nth(1).unwrap().to_owned()
        }
        Kind::Socks => socks_target(&mut stream).await,
    };
    seen.lock().unwrap().push(target.clone());
    let target = target.replace("localhost", "127.0.0.1");
    let mut onward = TcpStream::connect(target).await.unwrap();
    let granted: &[u8] = match kind {
        Kind::Http => b"HTTP/1.1 200 OK\r\n\r\n",
        Kind::Socks => &[5, 0, 0, 1, 0, 0, 0, 0, 0, 0],
    };
    stream.write_all(granted).await.unwrap();
    let _ = copy_bidirectional(&mut stream, &mut onward).await;
}

async fn socks_target(stream: &mut TcpStream) -> String {
    let mut hello = [0; 3];
    stream.read_exact(&mut hello).await.unwrap();
    assert_eq!(hello, [5, 1, 0]);
    stream.write_all(&[5, 0]).await.unwrap();
    let mut head = [0; 4];
    stream.read_exact(&mut head).await.unwrap();
    let host = match head[3] {
        1 => {
            let mut ip = [0; 4];
            stream.read_exact(&mut ip).await.unwrap();
            std::net::Ipv4Addr::from(ip).to_string()
        }
        3 => {
            let mut name = vec![0; usize::from(stream.read_u8().await.unwrap())];
            stream.read_exact(&mut name).await.unwrap();
            String::from_utf8(name).unwrap()
        }
        other => panic!("address kind {other}"),
    };
    format!("{host}:{}", stream.read_u16().await.unwrap())
}

async fn use_everything(transport: &Transport, peer: &Peer, echo: &Echo, proxy: &ProxySetting) {
    transport.get(&peer.url("/")).proxy(proxy.clone()).send().await.unwrap();
    let form = Multipart::new().bytes("f", "a.bin", "application/octet-stream", vec![1; 50_000]);
    transport.post(&peer.url("/")).proxy(proxy.clone()).multipart(form).send().await.unwrap();
    let options = WebSocketOptions { proxy: Some(proxy.clone()), ..WebSocketOptions::default() };
    let url = format!("ws://127.0.0.1:{}/", echo.port);
    let mut socket = transport.connect_websocket(&url, options).await.unwrap();
    socket.send(Message::text("hi")).await.unwrap();
    assert_eq!(socket.next().await.unwrap().unwrap(), Message::text("hi"));
}

#[tokio::test]
async fn msg_040_requests_uploads_and_websockets_pass_through_the_proxy() {
    for (kind, scheme) in [(Kind::Http, "http"), (Kind::Socks, "socks5h"), (Kind::Socks, "socks5")] {
        let (peer, echo, stub) =
            (Peer::start([ok_json("1")]).await, Echo::start().await, Stub::start(kind).await);
        let transport =
            peer.builder().local_origin(&format!("http://127.0.0.1:{}", echo.port)).build().unwrap();
        use_everything(&transport, &peer, &echo, &stub.setting(scheme, "")).await;
        let targets = stub.targets();
        assert!(targets.contains(&peer.address.to_string()), "{scheme} {targets:?}");
        assert!(targets.contains(&format!("127.0.0.1:{}", echo.port)), "{scheme} {targets:?}");

        let quiet = Stub::start(kind).await;
        use_everything(&transport, &peer, &echo, &quiet.setting(scheme, "example.com, 127.0.0.0/8")).await;
        assert!(quiet.targets().is_empty(), "{scheme}: NO_PROXY hosts are direct");
    }
}

#[tokio::test]
async fn cap_052_a_dead_proxy_never_falls_back_to_direct() {
    let peer = Peer::start([ok_json("1")]).await;
    let dead = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let proxy = ProxySetting::fixed(Proxy::parse(&format!("http://{dead}")).unwrap(), "");
    let transport = builder()
        .resolver(crate::support::Names::new([&["127.0.0.1"]]))
        .local_origin(&peer.url(""))
        .proxy(proxy);
    let error = transport.build().unwrap().post(&peer.url("/")).no_retry().send().await.unwrap_err();
    assert_eq!((error.code, error.detail["phase"].as_str()), (Code::ProviderNetworkError, Some("proxy")));
    assert_eq!(bytes_written(&error), Written::No);
    assert_eq!(peer.connections(), 0);
}

#[tokio::test]
async fn cap_052_the_name_is_handed_over_only_if_the_proxy_resolves() {
    let (peer, stub) = (Peer::start([ok_json("1")]).await, Stub::start(Kind::Socks).await);
    let port = peer.address.port();
    let url = format!("http://localhost:{port}/");
    for (proxy_resolves, target) in
        [(false, format!("127.0.0.1:{port}")), (true, format!("localhost:{port}"))]
    {
        let transport = builder()
            .resolver(crate::support::Names::new([&["127.0.0.1"]]))
            .settings(Settings { proxy_resolves, ..Settings::default() })
            .local_origin(&url)
            .proxy(stub.setting("socks5h", ""))
            .build()
            .unwrap();
        transport.get(&url).send().await.unwrap();
        assert_eq!(stub.targets().last(), Some(&target));
    }
}

#[test]
fn cap_052_settings_come_from_arguments() {
    let environment = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    };
    assert!(
        ProxySetting::parse(
            "env",
            &environment(&[("HTTPS_PROXY", "http://p:1"), ("https_proxy", "socks5h://q:2")])
        )
        .is_ok()
    );
    assert!(ProxySetting::parse("none", &environment(&[("HTTPS_PROXY", "nonsense")])).is_ok());
    let login = ProxySetting::parse("http://user:pass@p:1", &environment(&[])).unwrap_err();
    assert_eq!(login.code, Code::SecretInInput);
    assert!(ProxySetting::parse("ftp://p:1", &environment(&[])).is_err());
}
