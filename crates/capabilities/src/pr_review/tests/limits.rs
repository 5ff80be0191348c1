//! Limits of the provider, and its refusals.

use std::time::{Duration, Instant};

use loom_twins::github::{Fault, FaultAction};

use super::*;

const LIST: &str = "/repos/acme/tool/pulls";

/// CAP-084: a window that is used up ends the scan with a cursor, and the rest is given later.
#[tokio::test]
async fn cap_084_a_used_up_window_ends_with_a_cursor() {
    let scene = scene(builder(40, 0)).await;
    scene.settle();
    let primary = FaultAction::PrimaryLimit { status: 403, reset_secs: 30 };
    scene.twin.fault(Fault::always("/repos/acme/tool/pulls/*/reviews", primary).after(20));
    let order = json!({"detail": "standard"});
    let start = Instant::now();
    let cut = scene.scan(order.clone()).await;
    assert!(start.elapsed() < Duration::from_secs(20), "nothing is waited for unasked");
    let error = cut.error.as_ref().unwrap();
    assert_eq!((error.code, cut.stop_reason), (Code::ProviderRateLimited, StopReason::RateLimited));
    assert!(error.retry_after_ms.is_some_and(|ms| ms <= 31_000));
    assert!((1..40).contains(&cut.item_count), "{}", cut.item_count);
    scene.twin.clear_faults();
    let scene = scene.restarted();
    let rest = scene.resumed(order, cut.cursor.as_deref().unwrap()).await;
    let mut union = numbers(&cut);
    union.extend(numbers(&rest));
    assert_eq!(union, (1..=40).collect::<Vec<_>>());
}

/// CAP-084: with `wait_for_reset` the scan waits for the window and is complete.
#[tokio::test]
async fn cap_084_a_scan_that_may_wait_is_complete() {
    let quota = builder(30, 0).quota(60).quota_window(Duration::from_secs(2));
    let scene = scene(quota).await;
    scene.settle();
    let payload = scene.scan(json!({"detail": "standard", "wait_for_reset": true})).await;
    assert!(payload.complete, "{:?}", payload.error);
    assert_eq!(numbers(&payload), (1..=30).collect::<Vec<_>>());
    assert!(payload.items.iter().all(|item| item["partial"] == json!([])));
    let refused = scene.twin.requests().iter().filter(|request| request.status == Some(403)).count();
    assert!(refused <= 8, "only what was in flight may be refused: {refused}");
}

/// CAP-084: the first answer can be the refusal; the cursor then begins at the start.
#[tokio::test]
async fn cap_084_a_scan_refused_at_once_has_a_cursor_too() {
    let scene = scene(builder(5, 0)).await;
    scene.twin.leave_quota(0, Duration::from_secs(600));
    let cut = scene.scan(json!({})).await;
    assert_eq!((cut.item_count, cut.stop_reason), (0, StopReason::RateLimited));
    scene.twin.leave_quota(1_000, Duration::from_secs(600));
    let scene = scene.restarted();
    let rest = scene.resumed(json!({}), cut.cursor.as_deref().unwrap()).await;
    assert_eq!(rest.item_count, 5);
}

/// CAP-084: a secondary limit is waited for as the header says, and nobody asks meanwhile.
#[tokio::test]
async fn cap_084_a_secondary_limit_is_waited_out() {
    for status in [403, 429] {
        let scene = scene(builder(5, 0)).await;
        let limit = FaultAction::SecondaryLimit { status, retry_after_secs: Some(1) };
        scene.twin.fault(Fault::once(LIST, limit));
        let payload = scene.scan(json!({})).await;
        assert_eq!((payload.complete, payload.item_count), (true, 5), "{:?}", payload.error);
        let asked = scene.twin.requests();
        assert_eq!(asked.len(), 2);
        assert!(asked[1].at >= asked[0].at + Duration::from_secs(1));
    }
}

/// CAP-085: each refusal of the list has its code.
#[tokio::test]
async fn cap_085_refusals_have_their_codes() {
    let scene = scene(builder(5, 0)).await;
    for (action, code, kind) in [
        (FaultAction::Unauthorized, Code::ProviderAuthError, None),
        (FaultAction::Sso, Code::ProviderAuthError, None),
        (FaultAction::Forbidden, Code::ProviderHttpError, Some("permission")),
        (FaultAction::NotFound, Code::ProviderHttpError, Some("not_found")),
        (FaultAction::Gone, Code::ProviderHttpError, Some("gone")),
        (FaultAction::Validation, Code::ProviderHttpError, Some("validation")),
        (FaultAction::Legal, Code::ProviderHttpError, Some("legal")),
    ] {
        scene.twin.fault(Fault::once(LIST, action.clone()));
        let payload = scene.scan(json!({})).await;
        let error = payload.error.unwrap();
        assert_eq!((error.code, error.detail["kind"].as_str()), (code, kind), "{action:?}");
        if action == FaultAction::Sso {
            assert_eq!(error.detail["sso_required"], true);
        }
        if action == FaultAction::NotFound {
            assert_eq!(error.detail["maybe_private"], true);
        }
    }
}
