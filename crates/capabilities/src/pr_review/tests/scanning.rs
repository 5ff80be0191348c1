//! Pages, order, requests at once, cursors.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::*;

/// Ends a run after so many items, and notes how many requests the first one took.
struct Watch<'a> {
    twin: &'a GithubTwin,
    cancel: Option<(usize, CancellationToken)>,
    seen: usize,
    requests_at_first: u64,
}

impl Observer for Watch<'_> {
    fn item(&mut self, _: &Value) -> Flow {
        if self.seen == 0 {
            self.requests_at_first = self.twin.request_count();
        }
        self.seen += 1;
        if let Some((after, token)) = &self.cancel
            && self.seen == *after
        {
            token.cancel();
        }
        Flow::Continue
    }
}

fn open_numbers(scene: &Scene) -> Vec<u64> {
    let pulls = scene.twin.pulls(REPO);
    pulls
        .iter()
        .filter(|pull| pull.state == loom_twins::github::PullState::Open)
        .map(|pull| pull.number)
        .collect()
}

/// CAP-081: five pages give each pull request once, in list order, from the first page on; a second scan is 304s.
#[tokio::test]
async fn cap_081_five_pages_stream_in_order_and_cost_304s_again() {
    let scene = scene(builder(450, 50).latency(Duration::from_millis(5))).await;
    let mut watch = Watch { twin: &scene.twin, cancel: None, seen: 0, requests_at_first: 0 };
    let first = scene.watched("scan", input(&json!({"detail": "list"})), None, &mut watch).await;
    assert!(first.ok && first.complete, "{:?}", first.error);
    assert_eq!(watch.requests_at_first, 1);
    assert_eq!(numbers(&first), open_numbers(&scene));
    assert_eq!((first.item_count, first.effects.requests_sent, first.effects.external_writes), (450, 5, 0));
    assert_eq!(first.source_refs[0].r#ref, "github.com/acme/tool");
    assert!(scene.twin.requests().iter().all(|request| request.argument("per_page") == Some("100")));
    scene.twin.clear_requests();
    let again = scene.scan(json!({"detail": "list"})).await;
    assert_eq!((again.items == first.items, again.content_digest == first.content_digest), (true, true));
    assert!(scene.twin.requests().iter().all(|request| request.status == Some(304)));
    assert_eq!(scene.twin.requests().len(), 5);
}

/// CAP-047: `--refresh` asks for whole answers and keeps them anew; `--no-cache` asks whether the kept ones hold.
#[tokio::test]
async fn cap_047_a_refresh_asks_without_conditions_and_no_cache_with_them() {
    let mut scene = scene(builder(150, 0)).await;
    let first = scene.scan(json!({"detail": "list"})).await;
    for (mode, status) in [(CacheMode::Refresh, 200), (CacheMode::Use, 304), (CacheMode::NoCache, 304)] {
        scene.twin.clear_requests();
        scene.world.cache = mode;
        let again = scene.scan(json!({"detail": "list"})).await;
        assert_eq!((again.content_digest == first.content_digest, again.complete), (true, true), "{mode:?}");
        let statuses: Vec<_> = scene.twin.requests().iter().map(|request| request.status).collect();
        assert_eq!(statuses, [Some(status); 2], "{mode:?}");
    }
}

/// CAP-081: details are read with at most eight requests in flight, and items keep the order of the list.
#[tokio::test]
async fn cap_081_details_are_read_side_by_side_in_list_order() {
    let scene = scene(builder(150, 0).latency(Duration::from_millis(5))).await;
    scene.settle();
    let payload = scene.scan(json!({"detail": "standard"})).await;
    assert!(payload.complete, "{:?}", payload.error);
    assert_eq!(numbers(&payload), (1..=150).collect::<Vec<_>>());
    assert_eq!(payload.effects.requests_sent, 2 + 150 * 4);
    let most = scene.twin.in_flight_max();
    assert!((2..=8).contains(&most), "{most}");
    assert!(
        payload.items.iter().all(|item| item["partial"] == json!([]) && item["checks"]["state"] != "unknown")
    );
    scene.twin.clear_requests();
    let few = scene.scan(json!({"detail": "standard", "limit": 20, "concurrency": 2})).await;
    assert_eq!(numbers(&few), (1..=20).collect::<Vec<_>>());
    assert_eq!((few.stop_reason, few.complete, few.cursor.is_some()), (StopReason::Limit, false, true));
    assert!(scene.twin.in_flight_max() <= 2);
}

/// A large scan that is stopped in the middle and continued is complete and without doubles.
#[tokio::test]
async fn cap_081_a_stopped_scan_goes_on_behind_its_last_item() {
    let mut scene = scene(builder(500, 20).latency(Duration::from_millis(5))).await;
    let token = CancellationToken::new();
    scene.world.cancel = token.clone();
    let order = json!({"detail": "list"});
    let mut watch = Watch { twin: &scene.twin, cancel: Some((237, token)), seen: 0, requests_at_first: 0 };
    let cut = scene.watched("scan", input(&order), None, &mut watch).await;
    assert_eq!((cut.ok, cut.stop_reason), (false, StopReason::Cancelled));
    assert!(cut.item_count >= 237 && cut.item_count < 500);
    let scene = scene.restarted();
    scene.twin.clear_requests();
    let rest = scene.resumed(order, cut.cursor.as_deref().unwrap()).await;
    assert!(rest.complete);
    let mut union = numbers(&cut);
    union.extend(numbers(&rest));
    assert_eq!(union, open_numbers(&scene));
    assert!(rest.effects.requests_sent <= 5, "pages before the cursor are not read again");
}

/// Pull requests that are closed meanwhile move the others to earlier pages; none of them is missed or given twice.
#[tokio::test]
async fn cap_081_a_cursor_survives_pages_that_move() {
    let scene = scene(builder(350, 0)).await;
    let order = json!({"detail": "list", "limit": 220});
    let part = scene.scan(order.clone()).await;
    (1..=150).for_each(|number| scene.twin.close(REPO, number));
    let rest = scene.resumed(order, part.cursor.as_deref().unwrap()).await;
    assert_eq!(numbers(&rest), (221..=350).collect::<Vec<_>>());
    assert!(rest.complete);
}

#[tokio::test]
async fn several_repositories_follow_each_other_and_pages_can_be_limited() {
    let twin = builder(30, 0).repo(Repo::new("acme/web").open_pulls(130));
    let scene = scene(twin).await;
    let both = json!({"repo": [REPO, "acme/web", "ACME/tool"], "detail": "list"});
    let payload = scene.run("scan", both.clone()).await;
    assert_eq!((payload.item_count, payload.source_refs.len()), (160, 2));
    assert_eq!((&payload.items[29]["repo"], &payload.items[30]["repo"]), (&json!(REPO), &json!("acme/web")));
    let mut limited = both;
    limited["limit"] = json!(60);
    let (mut found, mut cursor) = (Vec::new(), None);
    for _ in 0..3 {
        let part = scene.watched("scan", limited.clone(), cursor.as_deref(), &mut NoObserver).await;
        found.extend(part.items.iter().map(|item| item["key"].clone()));
        cursor = part.cursor;
    }
    assert_eq!(found, payload.items.iter().map(|item| item["key"].clone()).collect::<Vec<_>>());
    assert_eq!(cursor, None);
}

#[tokio::test]
async fn a_page_that_fails_ends_the_scan_behind_what_was_given() {
    let scene = scene(builder(250, 0)).await;
    scene.twin.fault(
        loom_twins::github::Fault::once("/repos/acme/tool/pulls", loom_twins::github::FaultAction::Gone)
            .after(1),
    );
    let payload = scene.scan(json!({"detail": "list"})).await;
    assert_eq!((payload.item_count, payload.stop_reason), (100, StopReason::Error));
    assert_eq!(payload.error.as_ref().unwrap().detail["kind"], "gone");
    let rest = scene.resumed(json!({"detail": "list"}), payload.cursor.as_deref().unwrap()).await;
    assert_eq!(numbers(&rest), (101..=250).collect::<Vec<_>>());
}

/// CAP-086: an enterprise base has its own paths for REST and GraphQL.
#[tokio::test]
async fn cap_086_an_enterprise_base_is_kept_to() {
    let mut scene = scene(builder(3, 0)).await;
    scene.base = scene.twin.enterprise_url();
    scene.settle();
    let payload = scene.scan(json!({"detail": "full"})).await;
    assert!(payload.complete, "{:?}", payload.error);
    let asked = scene.twin.requests();
    assert!(
        asked
            .iter()
            .all(|request| { request.path.starts_with("/api/v3/") || request.path == "/api/graphql" })
    );
    assert_eq!(asked.iter().filter(|request| request.path == "/api/graphql").count(), 3);
}

/// CAP-090: a repository outside the list is refused before a socket.
#[tokio::test]
async fn cap_090_other_repositories_are_refused_before_a_socket() {
    let scene = scene(builder(3, 0)).await;
    let limited = PrReview::new().limited_to(["acme/other", "Umbrella/*"]);
    for (input, operation) in [
        (json!({"repo": ["acme/other", REPO]}), "scan"),
        (json!({"repo": REPO, "number": 1}), "checks"),
        (json!({"repo": REPO, "number": 1}), "threads"),
    ] {
        let request = RunRequest { operation: operation.into(), input, ..RunRequest::default() };
        let error = crate::run(&scene.world, &limited, request, None, &mut NoObserver).await.unwrap_err();
        assert_eq!((error.code, &error.detail["repo"]), (Code::EgressDenied, &json!(REPO)));
        assert_eq!(error.detail["reason"], "resource_not_allowed");
    }
    let allowed = RunRequest { input: json!({"repo": ["umbrella/x"]}), ..RunRequest::default() };
    assert!(crate::plan(&scene.world, &limited, allowed).is_ok());
    assert_eq!(scene.twin.request_count(), 0);
}
