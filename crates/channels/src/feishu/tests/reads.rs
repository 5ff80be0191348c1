//! Who we are, what is there, and a session that only sends.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use loom_domain::ConversationType;
use loom_twins::lark::{Fault as Planned, FaultAction};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::stage::{CHAT, Hub, Stage, text_part};
use crate::{Channel, CheckTarget, FaultClass, HistoryQuery, Session, SessionEnd};

const INFO: &str = "/open-apis/bot/v3/info";

#[tokio::test]
async fn the_app_says_who_it_is() {
    let stage = Stage::start().await;
    let identity = stage.channel.verify().await.unwrap();
    assert_eq!((identity.account, identity.identity.as_str()), (stage.twin.app().0, "feishu://ou_bot"));
    stage.twin.edit(|world| world.activate_status = 1);
    assert_eq!(stage.channel.verify().await.unwrap_err().code, "app_not_enabled");
    stage.twin.edit(|world| world.app.1 = "changed".to_owned());
    stage.twin.end_tokens();
    let refused = stage.channel.verify().await.unwrap_err();
    assert_eq!((refused.class, refused.code.as_str()), (FaultClass::Auth, "10003"));
    assert!(!refused.message.contains("twin-app-secret"));
}

#[tokio::test]
async fn chats_and_messages_are_read() {
    let stage = Stage::start().await;
    let found = stage.channel.candidates().await.unwrap();
    assert_eq!((found.len(), found[0].conversation_id.as_str()), (1, CHAT));
    assert_eq!(stage.channel.conversation(CHAT).await.unwrap().conversation_type, ConversationType::Group);
    assert!(stage.channel.conversation("oc_other").await.is_err());

    stage.sent(text_part(1, "# ours\nand more")).await;
    let query = |limit| HistoryQuery {
        conversation_id: CHAT.into(),
        thread_id: None,
        after: None,
        since: None,
        limit,
    };
    let page = stage.channel.history(query(60)).await.unwrap();
    let last = page.messages.last().unwrap();
    assert_eq!((page.messages.len(), page.truncated, last.own), (60, true, true));
    assert_eq!(last.event.content.text, "#### ours\nand more");
    assert_eq!(page.messages[0].event.content.text, "message 62");
    assert!(!stage.channel.history(query(200)).await.unwrap().truncated);
}

#[tokio::test]
async fn a_target_belongs_to_its_chat() {
    let stage = Stage::start().await;
    stage.twin.edit(|world| world.messages[4].thread = Some("omt_5".to_owned()));
    for (chat, thread, message, want) in [
        (CHAT, None, Some("om_00000003"), true),
        (CHAT, Some("omt_5"), None, true),
        (CHAT, Some("omt_5"), Some("om_00000005"), true),
        (CHAT, Some("omt_5"), Some("om_00000003"), false),
        ("oc_other", None, Some("om_00000003"), false),
        (CHAT, None, Some("om_nothere"), false),
        (CHAT, Some("C1"), None, false),
    ] {
        let target = CheckTarget {
            conversation_id: chat.to_owned(),
            thread_id: thread.map(str::to_owned),
            message_id: message.map(str::to_owned),
        };
        assert_eq!(stage.channel.check_target(target).await.unwrap(), want, "{thread:?} {message:?}");
    }
}

fn session(hub: &Arc<Hub>) -> (Session, CancellationToken, Arc<Notify>) {
    let (stop, reconnect) = (CancellationToken::new(), Arc::new(Notify::new()));
    let session = Session {
        ingress: hub.clone(),
        monitor: hub.clone(),
        stop: stop.clone(),
        reconnect: reconnect.clone(),
    };
    (session, stop, reconnect)
}

/// A session proves that the platform is there, takes nothing in, and ends as it is told.
#[tokio::test]
async fn a_session_only_proves_and_ends() {
    let (stage, hub) = (Stage::start().await, Arc::new(Hub::default()));
    assert!(!stage.channel.receives());
    let (served, _, reconnect) = session(&hub);
    reconnect.notify_one();
    assert_eq!(stage.channel.serve(served).await, SessionEnd::Reconnect);
    let (served, stop, _) = session(&hub);
    let ended = tokio::join!(stage.channel.serve(served), async {
        hub.proved.notified().await;
        hub.proved.notified().await;
        stop.cancel();
    });
    assert_eq!(ended.0, SessionEnd::Stopped);
    let seen = [&hub.registered, &hub.proofs, &hub.offered].map(|count| count.load(Ordering::Relaxed));
    assert_eq!(seen, [2, 2, 0]);
}

/// A platform that is away twice in a row, or refuses the app, ends the session.
#[tokio::test]
async fn a_session_ends_when_the_app_is_refused() {
    let (stage, hub) = (Stage::start().await, Arc::new(Hub::default()));
    for (action, class) in [
        (FaultAction::Drop, FaultClass::Retryable),
        (FaultAction::Code { status: 400, code: 99_991_662, reset_seconds: None }, FaultClass::Auth),
    ] {
        stage.twin.fault(Planned::once(INFO, action));
        let (served, ..) = session(&hub);
        let SessionEnd::Failed(fault) = stage.channel.serve(served).await else { panic!("{class:?}") };
        assert_eq!(fault.class, class);
    }
    assert!(super::super::session::ends_after(FaultClass::Retryable, 2));
    assert!(!super::super::session::ends_after(FaultClass::Retryable, 1));
}

/// Time between proofs is a minute, well within the window in which a proof counts.
#[test]
fn proofs_come_within_their_window() {
    let every = i64::try_from(super::super::session::PROBE_EVERY.as_millis()).unwrap();
    assert_eq!(super::super::session::PROBE_EVERY, Duration::from_secs(60));
    assert!(loom_domain::health::proof_window_ms("feishu", 0).unwrap() > every + 10_000);
}
