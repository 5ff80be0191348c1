//! The status server beside a busy hub: its figures are the store's, with the hub up and down.

use loom_api::{Client, Endpoint};
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::harness::{SOON, Scene, Setup, World, eventually};

/// A server that was there before the first hub tells of the store that the hub makes.
#[tokio::test(flavor = "multi_thread")]
async fn cap_144_a_status_server_before_the_first_hub_finds_its_store() {
    let mut world = World::new(Setup::default()).await;
    let mut server =
        world.spawn_line(&["status", "serve", "--listen", "127.0.0.1:0", "--json"], "status.log");
    let told = eventually("the server's address", SOON, || async {
        serde_json::from_str::<Value>(&server.said()).ok()
    })
    .await;
    let url = told["url"].as_str().unwrap();
    let token = std::fs::read_to_string(told["token_file"].as_str().unwrap()).unwrap();
    let client = Client::new(Endpoint::parse(url).unwrap(), Some(token));
    let ask = async || client.get("/status.json").run::<Value>().await.unwrap();
    let before = ask().await;
    assert_eq!((&before["hub"], &before["agents"]), (&"not_running".into(), &Value::Null), "{before:#}");
    world.up().await;
    world.line("agent create docs --runtime command -- /bin/cat").await.ok();
    let after = ask().await;
    assert_eq!((&after["hub"], &after["agents"]["total"]), (&"serving".into(), &1.into()), "{after:#}");
    assert_eq!(world.terminate().await, 0);
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().await, 0);
}

/// CAP-142 to CAP-146 run on sockets in the server's own tests; here the program serves, and the numbers agree.
#[tokio::test(flavor = "multi_thread")]
async fn cap_144_figures_of_the_status_server_are_the_stores() {
    let mut scene = Scene::new().await;
    for n in 0..3 {
        scene.ann_writes(&format!("busy {n}"));
        scene.seen(&format!("echo: busy {n}")).await;
        scene.item_is(&format!("busy {n}"), "handled").await;
    }
    scene.world.line("agent pause echo").await.ok();
    scene.ann_writes("this waits");
    scene.item_is("this waits", "queued").await;
    let mut server =
        scene.world.spawn_line(&["status", "serve", "--listen", "127.0.0.1:0", "--json"], "status.log");
    let told = eventually("the server's address", SOON, || async {
        serde_json::from_str::<Value>(&server.said()).ok()
    })
    .await;
    let url = told["url"].as_str().unwrap().to_owned();
    let token = std::fs::read_to_string(told["token_file"].as_str().unwrap()).unwrap();
    let ask = async |token: Option<&str>, path: &str| {
        let client = Client::new(Endpoint::parse(&url).unwrap(), token.map(str::to_owned));
        client.get(path).run::<Value>().await
    };
    assert!(ask(None, "/status.json").await.is_err());
    let seen = ask(Some(&token), "/status.json").await.unwrap();
    let store = scene.json(&["status"]).await;
    assert_eq!(seen["hub"], "serving");
    assert_eq!(seen["queues"]["inbox"]["queued"], store["inbox"]["queued"], "{seen:#}");
    assert_eq!(seen["agents"]["total"], store["agents"]["total"]);
    assert_eq!(seen["notices"], store["notices"]);
    assert_eq!(seen["connections"][0]["state"], "connected", "{seen:#}");
    assert_eq!(seen["connections"][0]["id"], scene.connection.as_str());
    let hubs = scene.world.client().get("/status.json").run::<Value>().await.unwrap();
    for member in ["queues", "outbox", "agents"] {
        let settled = |document: &Value| {
            let mut member = document[member].clone();
            member
                .as_object_mut()
                .unwrap()
                .retain(|name, _| !name.ends_with("age_seconds") && name != "agents");
            member
        };
        assert_eq!(settled(&seen), settled(&hubs), "the hub serves the same");
    }
    let requests = ask(Some(&token), "/v1/requests?limit=2").await.unwrap();
    assert_eq!(requests["items"].as_array().unwrap().len(), 2, "{requests:#}");
    assert_eq!(scene.world.terminate().await, 0);
    let alone = ask(Some(&token), "/status.json").await.unwrap();
    assert_eq!(alone["hub"], "not_running");
    assert_eq!(alone["connections"][0]["state"], "not_observed");
    assert_eq!(alone["queues"]["inbox"]["queued"], store["inbox"]["queued"]);
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().await, 0);
}
