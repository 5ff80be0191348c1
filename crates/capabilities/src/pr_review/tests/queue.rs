//! The queue against the twin.

use super::*;

async fn home_scene(folder: &std::path::Path, open: u64) -> Scene {
    let mut scene = scene(builder(open, 2)).await;
    scene.world.home = Some(folder.to_owned());
    scene.settle();
    scene
}

/// CAP-091, CAP-092, CAP-093: a scan offers, `handled` answers at the exact head, an incomplete scan changes nothing.
#[tokio::test]
async fn cap_091_cap_092_cap_093_a_scan_offers_and_handled_answers() {
    let folder = tempfile::tempdir().unwrap();
    let scene = home_scene(folder.path(), 120).await;
    let first = scene.scan(json!({"queue": true, "take": 2})).await;
    assert!(first.ok && first.complete, "{:?}", first.error);
    assert_eq!((first.fields["observation"].as_str(), first.item_count), (Some("material_change"), 120));
    let offers = first.fields["offers"].as_array().unwrap().clone();
    assert_eq!(offers.len(), 2);
    assert!(
        first
            .items
            .iter()
            .all(|item| item["queue"]["handled"] == false && item["author"]["is_self"].is_boolean())
    );
    let again = scene.scan(json!({"queue": true})).await;
    assert_eq!(again.fields["observation"], "unchanged");
    assert_ne!(again.fields["offers"][0]["key"], offers[0]["key"]);
    let answer = json!({"key": offers[0]["key"], "offer": offers[0]["offer_id"], "outcome": "commented"});
    let receipt = scene.run("handled", answer.clone()).await;
    assert!(receipt.ok, "{:?}", receipt.error);
    assert_eq!(receipt.fields["principal"], "owner");
    let number = offers[1]["key"].as_str().unwrap().split(['#', '@']).nth(1).unwrap().parse().unwrap();
    scene.twin.edit(REPO, number, |pull, _| pull.head_oid = "f".repeat(40));
    let late = json!({"key": offers[1]["key"], "offer": offers[1]["offer_id"], "outcome": "approved"});
    let refused = scene.run("handled", late).await;
    assert_eq!(refused.error.unwrap().detail["pointer"], "/key");
    let file = || {
        let one = std::fs::read_dir(folder.path().join("pr-review")).unwrap();
        let names = one.map(|entry| entry.unwrap().path());
        std::fs::read(names.into_iter().find(|path| path.extension().unwrap() == "json").unwrap()).unwrap()
    };
    let before = file();
    let partial = scene.watched_pages(json!({"queue": true}), 1).await;
    assert_eq!((partial.complete, partial.fields["observation"].as_str()), (false, Some("not_observed")));
    assert_eq!((partial.item_count, file() == before), (0, true));
    let whole = scene.scan(json!({"queue": true})).await;
    assert_eq!(whole.fields["changed"].as_array().unwrap().len(), 1);
    let done = whole.items.iter().find(|item| item["key"] == answer["key"]).unwrap();
    assert_eq!((done["queue"]["handled"].as_bool(), done["queue"]["lane"].is_null()), (Some(true), true));
    let other = scene.scan(json!({"queue": true, "filter": "open label:bug"})).await;
    assert_eq!(other.error.unwrap().detail["pointer"], "/filter");
}
