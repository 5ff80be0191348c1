//! Sockets: recycling, limits, ends.

use loom_twins::slack::{Action, Config, Fault as Planned, FaultAction, Post};

use super::stage::{Hub, LIMIT, Stage, channel};
use crate::{Channel, FaultClass, SessionEnd};

/// MSG-212: recycled over and over there are never more than two sockets, and one at rest.
#[tokio::test]
async fn msg_212_fifty_flaps_never_open_a_third_socket() {
    let (stage, hub) = (Stage::start().await, Hub::new());
    let served = stage.connected(&hub).await;
    for n in 1..=50_u32 {
        stage.twin.disconnect(if n % 2 == 0 { "warning" } else { "refresh_requested" });
        hub.until(|notes| notes.registered > n).await;
    }
    stage.twin.post(Post::new("D0ANN", "U0ANN", "still there")).unwrap();
    assert_eq!(hub.events(1).await[0].content.text, "still there");
    hub.until(|notes| notes.sockets == 1).await;
    stage.twin.wait_for(LIMIT, |twin| (twin.counters().sockets_open == 1).then_some(())).await.unwrap();
    assert!(stage.twin.counters().sockets_max <= 2, "{:?}", stage.twin.counters().sockets_max);
    assert!(hub.notes().sockets_max <= 2);
    assert_eq!(served.stop().await, SessionEnd::Stopped);
    stage.twin.wait_for(LIMIT, |twin| (twin.counters().sockets_open == 0).then_some(())).await.unwrap();
}

/// MSG-212: what an old socket brought is acknowledged on it, and nothing is lost while it is replaced.
#[tokio::test]
async fn msg_212_events_around_a_recycle_are_all_taken() {
    let (stage, hub) = (Stage::start().await, Hub::new());
    let _served = stage.connected(&hub).await;
    for n in 0..30 {
        stage.twin.post(Post::new("D0ANN", "U0ANN", &format!("m{n}"))).unwrap();
        if n % 10 == 5 {
            stage.twin.disconnect("warning");
        }
    }
    let all = |events: &[loom_domain::InboundEvent]| {
        (0..30).all(|n| events.iter().any(|event| event.content.text == format!("m{n}")))
    };
    hub.until(|notes| all(&notes.events)).await;
    stage.twin.wait_for(LIMIT, |twin| twin.counters().unacked.is_empty().then_some(())).await.unwrap();
}

/// Why a session ends decides how the next try waits.
#[tokio::test]
async fn ends_of_a_session_carry_their_class() {
    let (stage, hub) = (Stage::start().await, Hub::new());
    let end_class = |end| match end {
        SessionEnd::Failed(fault) => fault.class,
        other => panic!("{other:?}"),
    };
    let served = stage.connected(&hub).await;
    stage.twin.disconnect("link_disabled");
    assert_eq!(end_class(served.end().await), FaultClass::Config);

    let hub = Hub::new();
    let served = stage.connected(&hub).await;
    stage.twin.act(Action::DropSockets {}).unwrap();
    assert_eq!(end_class(served.end().await), FaultClass::Retryable);

    stage
        .twin
        .fault(Planned::once("apps.connections.open", FaultAction::Error { code: "invalid_auth".into() }));
    assert_eq!(end_class(stage.serve(&Hub::new()).end().await), FaultClass::Auth);
    stage.twin.fault(Planned::once(
        "apps.connections.open",
        FaultAction::RateLimited { retry_after_secs: Some(3) },
    ));
    assert_eq!(end_class(stage.serve(&Hub::new()).end().await), FaultClass::RateLimited);
}

/// A void token is reported while the session stands.
#[tokio::test]
async fn a_revoked_token_is_reported_at_once() {
    let (stage, hub) = (Stage::start().await, Hub::new());
    let _served = stage.connected(&hub).await;
    stage.twin.act(Action::RevokeTokens {}).unwrap();
    let notes = hub.until(|notes| !notes.faults.is_empty()).await;
    assert_eq!(notes.faults[0].class, FaultClass::Auth);
    assert_eq!(hub.events(1).await[0].fact.as_deref(), Some("tokens_revoked"));
}

/// Another socket of the same app is noticed.
#[tokio::test]
async fn a_foreign_connection_is_noticed() {
    let stage = Stage::start().await;
    let (first, second) = (Hub::new(), Hub::new());
    let _one = stage.connected(&first).await;
    let _two = stage.serve(&second);
    second.until(|notes| notes.foreign == 2).await;
}

/// A user token and an app token of another app are refused.
#[tokio::test]
async fn wrong_tokens_are_config_faults() {
    let stage = Stage::with(Config {
        bot_tokens: vec!["xoxb-1-twin".into(), "xoxp-1-person".into()],
        app_tokens: vec!["xapp-1-A0001-1-twin".into(), "xapp-1-A0009-1-other".into()],
        ..Config::default()
    })
    .await;
    for (bot, app, code) in [
        ("xoxp-1-person", "xapp-1-A0001-1-twin", "not_allowed_token_type"),
        ("xoxb-1-twin", "xapp-1-A0009-1-other", "app_mismatch"),
    ] {
        let fault = channel(&stage.twin, bot, app).verify().await.unwrap_err();
        assert_eq!((fault.class, fault.code.as_str()), (FaultClass::Config, code));
    }
}
