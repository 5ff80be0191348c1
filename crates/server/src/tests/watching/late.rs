//! A server that was there before the store of its home.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use loom_store::{Store, StoreConfig};

use super::{NOW, Watch};
use crate::HomeStore;

/// CAP-144: a store that is made behind the start of the server is found, and by those alone who hold a token.
#[tokio::test]
async fn cap_144_a_later_store_is_found() {
    let home = tempfile::tempdir().unwrap();
    let config = StoreConfig { reader_threads: 1, ..StoreConfig::new(home.path(), "tests") };
    let (writing, reading) = (config.clone(), config);
    let store = tokio::task::spawn_blocking(move || Store::open(writing, NOW)).await.unwrap().unwrap();
    let (is_there, looks) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let (flag, count) = (is_there.clone(), looks.clone());
    let seen = HomeStore::look(move || {
        count.fetch_add(1, Ordering::SeqCst);
        flag.load(Ordering::SeqCst).then(|| Store::open_reader(reading.clone())).transpose()
    });
    let watch = Watch::seeing(home, store, seen.unwrap(), |_| {}).await;
    assert!(watch.status().await["agents"].is_null());
    assert_eq!(watch.bare("GET /readyz", &[]).await.body, r#"{"ok":true}"#);
    let act = loom_store::Act { principal: loom_domain::Principal::Owner, now: NOW, entropy: Arc::new(|| 7) };
    let new = serde_json::json!({"name": "docs", "runtime": "command", "command": ["/bin/cat"]});
    watch.store.create_agent(act, serde_json::from_value(new).unwrap(), false).await.unwrap();
    is_there.store(true, Ordering::SeqCst);
    assert_eq!(watch.status().await["agents"]["total"], 1);
    let looked = looks.load(Ordering::SeqCst);
    assert_eq!(watch.status().await["agents"]["total"], 1);
    assert_eq!(looks.load(Ordering::SeqCst), looked, "it is opened once");
}
