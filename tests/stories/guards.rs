//! The TCP listener's guards on a real hub, and the audit chain.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::harness::{SOON, Scene, Setup, World};

/// A hub on a loopback port.
async fn listening() -> (World, SocketAddr) {
    // Freed right away; nobody else on this machine asks for that very port.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut world = World::new(Setup { listen: address.to_string(), ..Setup::default() }).await;
    world.up().await;
    (world, address)
}

struct Answer {
    status: u16,
    text: String,
}

impl Answer {
    fn holds(&self, code: &str) -> bool {
        self.text.contains(&format!("\"{code}\""))
    }
}

/// Sends bytes and reads the whole answer.
async fn raw(address: SocketAddr, request: &str) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    // The hub may close while a body is still under way.
    drop(timeout(SOON, stream.read_to_end(&mut bytes)).await.expect("an answer"));
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let status = text.split_whitespace().nth(1).and_then(|word| word.parse().ok());
    Answer { status: status.unwrap_or_else(|| panic!("no status in {text:?}")), text }
}

/// A request with further header lines.
async fn ask(address: SocketAddr, line: &str, headers: &[&str]) -> Answer {
    let more = headers.iter().fold(String::new(), |lines, header| lines + header + "\r\n");
    raw(address, &format!("{line} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{more}\r\n")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_226_atk_01_atk_02_atk_04_atk_05_nothing_is_reachable_without_a_principal() {
    let (_world, address) = listening().await;
    let live = ask(address, "GET /v1/healthz", &[]).await;
    assert_eq!(live.status, 200, "{}", live.text);
    let routes = [
        "GET /v1/status",
        "GET /v1/agents",
        "GET /v1/inbox",
        "GET /v1/outbox",
        "GET /v1/connections",
        "GET /v1/readyz",
        "GET /v1/metrics",
        "GET /v1/events",
        "GET /v1/audit",
        "GET /v1/where?q=x",
    ];
    for line in routes {
        let answer = ask(address, line, &[]).await;
        assert!(
            answer.status == 401 && answer.holds("unauthenticated") || answer.status == 429,
            "{line}: {}",
            answer.text
        );
        let foreign = ask(address, line, &["origin: https://evil.example"]).await;
        assert!(foreign.status == 403 && foreign.holds("origin_not_allowed"), "{line}: {}", foreign.text);
        let null = ask(address, line, &["origin: null"]).await;
        assert_eq!(null.status, 403, "{line}: {}", null.text);
        for answer in [&answer, &foreign, &null] {
            assert!(!answer.text.to_lowercase().contains("access-control-"), "{line}: {}", answer.text);
        }
    }
    let forged =
        ask(address, "GET /v1/agents", &["x-forwarded-for: 127.0.0.1", "forwarded: for=127.0.0.1"]).await;
    assert!([401, 429].contains(&forged.status), "{}", forged.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_226_atk_03_a_foreign_host_is_refused_before_routing() {
    let (_world, address) = listening().await;
    let port = address.port();
    let hosts = [
        format!("evil.example:{port}"),
        "evil.example".to_owned(),
        format!("127.0.0.1.:{port}"),
        "127.0.0.1:1".to_owned(),
        format!("user@127.0.0.1:{port}"),
        "[::ffff:7f00:1]".to_owned(),
    ];
    for host in hosts {
        for path in ["/v1/healthz", "/v1/agents", "/nowhere"] {
            let answer =
                raw(address, &format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"))
                    .await;
            assert!(
                (400..=403).contains(&answer.status) && answer.status != 401,
                "{host} {path}: {}",
                answer.text
            );
        }
    }
    let doubled = ask(address, "GET /v1/healthz", &["host: evil.example"]).await;
    assert!([400, 403].contains(&doubled.status), "{}", doubled.text);
    let named = raw(
        address,
        &format!("GET /v1/healthz HTTP/1.1\r\nhost: localhost:{port}\r\nconnection: close\r\n\r\n"),
    )
    .await;
    assert_eq!(named.status, 200, "{}", named.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_226_atk_08_atk_09_forms_guesses_and_tokens_in_urls_are_refused() {
    let (_world, address) = listening().await;
    let in_url = ask(address, "GET /v1/agents?token=loom_abcdefgh", &[]).await;
    assert!(in_url.status >= 400 && in_url.holds("token_in_url"), "{}", in_url.text);
    assert!(!in_url.text.contains("loom_abcdefgh"));
    let form = ["content-type: application/x-www-form-urlencoded", "content-length: 3"];
    let more = form.iter().fold(String::new(), |lines, header| lines + header + "\r\n");
    let answer = raw(
        address,
        &format!("POST /v1/agents HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{more}\r\na=b"),
    )
    .await;
    assert!([401, 403, 415].contains(&answer.status), "{}", answer.text);
    let mut statuses = Vec::new();
    for n in 0..14 {
        statuses.push(
            ask(address, "GET /v1/agents", &[&format!("authorization: Bearer guess-{n}")]).await.status,
        );
    }
    assert_eq!(statuses.first(), Some(&401));
    assert_eq!(statuses.last(), Some(&429), "guesses are throttled, from loopback too: {statuses:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn atk_12_a_listener_for_everybody_without_tls_does_not_start() {
    let world = World::new(Setup { listen: "0.0.0.0:0".into(), ..Setup::default() }).await;
    let refused = world.loom(&["up", "--json"]).await;
    assert_ne!(refused.code, 0, "{refused}");
    assert_eq!(refused.json()["error"]["code"], "insecure_bind", "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_229_p_14_the_chain_verifies_and_an_altered_row_is_found() {
    let mut scene = Scene::new().await;
    scene.ann_writes("for the record");
    scene.item_is("for the record", "handled").await;
    let intact = scene.json(&["audit", "verify"]).await;
    assert!(intact["rows"].as_u64().unwrap() > 5, "{intact:#}");
    let rows = scene.json(&["audit", "list", "--limit", "500"]).await;
    let actions: Vec<String> = rows["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| format!("{} by {}", row["action"], row["principal"]))
        .collect();
    for word in ["agent", "connection", "address", "membership", "part"] {
        assert!(actions.iter().any(|action| action.contains(word)), "no row about {word}: {actions:#?}");
    }
    assert_eq!(scene.world.terminate().await, 0);
    let database = rusqlite::Connection::open(scene.world.home().join("db/loom.db")).unwrap();
    let sql = "UPDATE audit SET row_json = replace(row_json, '\"', '''') WHERE seq = 3";
    assert_eq!(database.execute(sql, []).unwrap(), 1);
    drop(database);
    scene.world.up().await;
    scene.world.loom(&["audit", "verify", "--json"]).await.fails("audit_broken", 6);
}
