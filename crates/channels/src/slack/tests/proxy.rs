//! The Connection's own proxy.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loom_transport::{Proxy, ProxySetting};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::stage::{Hub, Stage, file_part, proxied};

/// Serves CONNECT on loopback and counts the tunnels.
async fn connect_proxy(tunnels: Arc<AtomicUsize>) -> (String, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut open = JoinSet::new();
        while let Ok((client, _)) = listener.accept().await {
            let tunnels = Arc::clone(&tunnels);
            open.spawn(async move {
                let mut client = BufReader::new(client);
                let (mut first, mut line) = (String::new(), String::from("-"));
                client.read_line(&mut first).await.unwrap();
                while !line.trim().is_empty() {
                    line.clear();
                    client.read_line(&mut line).await.unwrap();
                }
                let target = first.strip_prefix("CONNECT ").unwrap().split(' ').next().unwrap().to_owned();
                let mut server = TcpStream::connect(target).await.unwrap();
                tunnels.fetch_add(1, Ordering::SeqCst);
                client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                let _ = copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    (url, tasks)
}

/// MSG-040: REST, socket and upload of a Connection pass through its proxy; hosts named in `no_proxy` do not.
#[tokio::test]
async fn msg_040_calls_socket_and_upload_pass_through_the_proxy() {
    let (tunnels, dir) = (Arc::new(AtomicUsize::new(0)), tempfile::tempdir().unwrap());
    let (url, _proxy) = connect_proxy(Arc::clone(&tunnels)).await;
    for (no_proxy, passes) in [("", true), ("127.0.0.1", false)] {
        tunnels.store(0, Ordering::SeqCst);
        let mut stage = Stage::start().await;
        let setting = ProxySetting::fixed(Proxy::parse(&url).unwrap(), no_proxy);
        stage.channel = proxied(&stage.twin, "xoxb-1-twin", "xapp-1-A0001-1-twin", Some(setting));
        let hub = Hub::new();
        let served = stage.connected(&hub).await;
        let ids = stage.sent(file_part(&dir, "C0GENERAL", 1, "a.txt", b"a")).await;
        assert!(ids.file_id.is_some());
        // At least one tunnel for the calls and one that the socket keeps.
        assert_eq!(tunnels.load(Ordering::SeqCst) >= 2, passes, "{no_proxy}");
        assert!(passes || tunnels.load(Ordering::SeqCst) == 0);
        served.stop().await;
    }
}
