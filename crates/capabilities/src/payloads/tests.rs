use std::sync::Arc;

use loom_transport::MockBackend;
use serde_json::json;

use super::*;
use crate::github_public_probe::GithubPublicProbe;
use crate::{NoObserver, RunRequest, World};

fn world(home: &Path) -> World {
    let mut world = World::over(Arc::new(MockBackend::new()));
    world.payloads = Some(PayloadStore::new(home));
    world
}

async fn probe(world: &World, number: u32) -> Payload {
    let input = json!({"url": format!("https://github.com/owner/repo/issues/{number}")});
    let request = RunRequest { input, ..RunRequest::default() };
    crate::run(world, &GithubPublicProbe::new(), request, None, &mut NoObserver).await.unwrap()
}

fn newest(limit: usize) -> HistoryFilter {
    HistoryFilter { limit, ..HistoryFilter::default() }
}

/// CAP-028, CAP-071: what was given is what is stored; one flipped byte is noticed.
#[tokio::test]
async fn cap_071_a_flipped_byte_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let store = PayloadStore::new(dir.path());
    let payload = probe(&world(dir.path()), 1).await;
    assert!(payload.effects.state_written);
    let stored = store.verified(&payload.payload_id).unwrap();
    assert_eq!(stored, serde_json::to_value(&payload).unwrap());
    assert_eq!(store.show(&payload.payload_id[7..23]).unwrap(), stored);
    let path = store.find(&payload.payload_id).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(4).position(|four| four == b"repo").unwrap();
    bytes[at] = b'R';
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(store.verified(&payload.payload_id).unwrap_err().code, Code::IntegrityError);
    assert_eq!(store.show("sha256:00").unwrap_err().code, Code::NotFound);
    assert_eq!(store.show("../../etc/passwd").unwrap_err().code, Code::NotFound);
}

/// CAP-073: history filters by connector, time and outcome; what was not kept is absent.
#[tokio::test]
async fn cap_073_history_filters() {
    let dir = tempfile::tempdir().unwrap();
    let (store, mut world) = (PayloadStore::new(dir.path()), world(dir.path()));
    let first = probe(&world, 1).await;
    let second = probe(&world, 2).await;
    world.payloads = None;
    assert!(!probe(&world, 3).await.effects.state_written);
    let ids = |filter: &HistoryFilter| -> Vec<String> {
        store.history(filter).unwrap().into_iter().map(|row| row.payload_id).collect()
    };
    assert_eq!(ids(&newest(50)), [second.payload_id.clone(), first.payload_id.clone()]);
    assert_eq!(ids(&newest(1)), std::slice::from_ref(&second.payload_id));
    assert_eq!(ids(&HistoryFilter { ok: Some(false), ..newest(50) }), Vec::<String>::new());
    assert_eq!(
        ids(&HistoryFilter { connector: Some("finance_probe".into()), ..newest(50) }),
        Vec::<String>::new()
    );
    let later = Some(second.timings.finished_at.plus_ms(86_400_000));
    assert_eq!(ids(&HistoryFilter { since: later, ..newest(50) }), Vec::<String>::new());
    let found =
        differences(&store.show(&first.payload_id).unwrap(), &store.show(&second.payload_id).unwrap());
    let pointers: Vec<&str> = found.iter().map(|one| one.pointer.as_str()).collect();
    assert_eq!(pointers, ["/fields/ref/number", "/fields/ref/url"]);
}

/// CAP-072: the oldest go first, held ones stay, and the index says what was removed.
#[tokio::test]
async fn cap_072_retention_keeps_what_is_held() {
    let dir = tempfile::tempdir().unwrap();
    let (store, world) = (PayloadStore::new(dir.path()), world(dir.path()));
    let first = probe(&world, 1).await;
    let second = probe(&world, 2).await;
    let later = second.timings.finished_at.plus_ms(31 * 86_400_000);
    let held = BTreeSet::from([first.payload_id.clone()]);
    let told = store.prune(None, later, &held, Doing::Tell).unwrap();
    assert_eq!((told.removed, told.kept), (1, 1));
    assert!(store.show(&second.payload_id).is_ok(), "telling removes nothing");
    assert_eq!(store.prune(None, later, &held, Doing::Remove).unwrap(), told);
    assert_eq!(store.show(&second.payload_id).unwrap_err().code, Code::NotFound);
    assert!(store.show(&first.payload_id).is_ok());
    let rows = store.history(&newest(50)).unwrap();
    assert_eq!(rows[0].purged_at, Some(later));
    let small = store.clone().retention(Retention { days: 365, bytes_max: 10 });
    assert_eq!(
        small.prune(None, first.timings.finished_at, &BTreeSet::new(), Doing::Remove).unwrap().removed,
        1
    );
}

/// A home that cannot be written is a warning, and no failure.
#[tokio::test]
async fn an_unwritable_home_is_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let payload = probe(&world(&file), 1).await;
    assert!(payload.ok && !payload.effects.state_written);
    assert_eq!(payload.warnings, ["payload_not_saved"]);
}
