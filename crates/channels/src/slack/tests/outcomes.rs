//! Sends that fail, and what is known afterwards.

use std::time::Duration;

use loom_twins::slack::{Fault as Planned, FaultAction};

use super::stage::{LIMIT, Stage, file_part, text_part};
use crate::{Channel, FaultClass, HistoryQuery, Settlement};

const SEND: &str = "chat.postMessage";
const COMPLETE: &str = "files.completeUploadExternal";

fn history(channel: &str) -> HistoryQuery {
    HistoryQuery { conversation_id: channel.into(), thread_id: None, after: None, since: None, limit: 10 }
}

/// MSG-183: a lost answer is unknown, and the lookup finds the one message.
#[tokio::test]
async fn msg_183_a_lost_answer_is_settled_by_lookup() {
    let stage = Stage::start().await;
    for action in [
        FaultAction::DropAnswer,
        FaultAction::StatusAfterActing { status: 503 },
        FaultAction::ErrorAfterActing { code: "internal_error".into() },
    ] {
        let mut part = text_part("C0GENERAL", "once");
        part.part_id = loom_domain::PartId::new(2, stage.calls(SEND) as u128);
        stage.twin.fault(Planned::once(SEND, action.clone()));
        assert_eq!(stage.failed(part.clone()).await.class, FaultClass::Unknown, "{action:?}");
        let Settlement::Found(ids) = stage.settle(part, None).await else { panic!("{action:?}") };
        let ledger = stage.twin.ledger();
        assert_eq!(ids.message_id, ledger.by_app().last().map(|message| message.ts.clone()));
    }
    assert_eq!((stage.twin.ledger().by_app().count(), stage.calls(SEND)), (3, 3));
}

/// MSG-183: a request that was lost is not there; a thread is asked as a thread.
#[tokio::test]
async fn msg_183_a_lost_request_is_not_found() {
    let stage = Stage::start().await;
    let root = stage.sent(text_part("C0GENERAL", "root")).await.message_id;
    let mut part = text_part("C0GENERAL", "never");
    part.part_id = loom_domain::PartId::new(2, 2);
    part.target.thread_id = root;
    stage.twin.fault(Planned::once(SEND, FaultAction::DropRequest));
    assert_eq!(stage.failed(part.clone()).await.class, FaultClass::Unknown);
    assert_eq!(stage.settle(part, None).await, Settlement::NotFound);
    assert_eq!(stage.calls("conversations.replies"), 1);
}

/// MSG-185: without a readable history nothing is concluded.
#[tokio::test]
async fn msg_185_an_unreadable_history_answers_nothing() {
    let stage = Stage::start().await;
    let part = text_part("C0GENERAL", "x");
    stage.twin.drop_next_answer(SEND);
    stage.failed(part.clone()).await;
    stage.twin.knobs(|knobs| knobs.metadata_hidden = true);
    assert!(matches!(stage.settle(part.clone(), None).await, Settlement::Unanswerable(_)));
    stage.twin.knobs(|knobs| {
        knobs.metadata_hidden = false;
        knobs.history_disabled = true;
    });
    let Settlement::Unanswerable(fault) = stage.settle(part.clone(), None).await else { panic!("no scope") };
    assert_eq!(fault.class, FaultClass::MissingScope);
    stage.twin.knobs(|knobs| knobs.history_disabled = false);
    stage.twin.fault(Planned::once("conversations.history", FaultAction::Status { status: 500 }));
    assert!(matches!(stage.settle(part, None).await, Settlement::Unanswered(_)));
}

/// MSG-183 for files: the shares of the known file id tell.
#[tokio::test]
async fn msg_183_files_are_settled_by_their_shares() {
    let (stage, dir) = (Stage::start().await, tempfile::tempdir().unwrap());
    let part = file_part(&dir, "C0GENERAL", 1, "a.txt", b"a");
    for (action, is_there) in [(FaultAction::DropAnswer, true), (FaultAction::DropRequest, false)] {
        let steps = super::stage::Steps::default();
        stage.twin.fault(Planned::once(COMPLETE, action));
        let crate::SendOutcome::Failed(fault) = stage.channel.deliver(part.clone(), &steps).await else {
            panic!("fault")
        };
        assert_eq!(fault.class, FaultClass::Unknown);
        let key = steps.taken.lock().unwrap().last().unwrap().1.clone();
        if is_there {
            stage.twin.wait_for_app_messages(1, LIMIT).await.unwrap();
            let Settlement::Found(ids) = stage.settle(part.clone(), key.clone()).await else {
                panic!("found")
            };
            assert!(ids.file_id == key && ids.message_id.is_some());
        } else {
            assert_eq!(stage.settle(part.clone(), key).await, Settlement::NotFound);
        }
    }
    assert_eq!(stage.settle(part, None).await, Settlement::NotFound);
}

/// MSG-190: a limit stops its own method, for the time it names.
#[tokio::test]
async fn msg_190_a_rate_limit_stops_one_method_only() {
    let stage = Stage::start().await;
    stage.twin.fault(Planned::once(SEND, FaultAction::RateLimited { retry_after_secs: Some(7) }));
    let fault = stage.failed(text_part("C0GENERAL", "x")).await;
    assert_eq!(
        (fault.class, fault.retry_after_ms, fault.scope.as_deref()),
        (FaultClass::RateLimited, Some(7_000), Some(SEND))
    );
    let again = stage.failed(text_part("C0DOCS", "x")).await;
    assert!(
        again.class == FaultClass::RateLimited
            && again.retry_after_ms.is_some_and(|ms| ms > 5_000 && ms <= 7_000)
    );
    assert_eq!(stage.calls(SEND), 1);
    stage.channel.history(history("C0GENERAL")).await.unwrap();

    let stage = Stage::start().await;
    stage.twin.fault(Planned::once(SEND, FaultAction::RateLimited { retry_after_secs: None }));
    assert_eq!(stage.failed(text_part("C0GENERAL", "x")).await.retry_after_ms, Some(30_000));
}

/// MSG-191: each code has its class when it really comes over the wire.
#[tokio::test]
async fn msg_191_each_code_has_its_class_on_the_wire() {
    let stage = Stage::start().await;
    for (class, codes) in [
        (
            FaultClass::Auth,
            "not_authed invalid_auth account_inactive token_revoked token_expired no_permission \
            not_allowed_token_type org_login_required ekm_access_denied team_access_not_granted",
        ),
        (FaultClass::MissingScope, "missing_scope"),
        (
            FaultClass::Permanent,
            "channel_not_found not_in_channel is_archived restricted_action user_not_found cannot_dm_bot \
            messages_tab_disabled message_not_found thread_locked no_text msg_too_long msg_blocks_too_long invalid_blocks \
            invalid_arguments invalid_metadata_format metadata_too_large too_many_attachments never_seen_before",
        ),
        (FaultClass::Retryable, "team_added_to_org"),
        (FaultClass::Unknown, "internal_error fatal_error service_unavailable request_timeout"),
        (FaultClass::RateLimited, "ratelimited"),
    ] {
        for code in codes.split_whitespace() {
            stage.twin.fault(Planned::once(SEND, FaultAction::Error { code: code.into() }));
            let fault = stage.failed(text_part("C0GENERAL", "x")).await;
            assert_eq!((fault.class, fault.code.as_str()), (class, code));
        }
    }
    assert_eq!(stage.twin.ledger().by_app().count(), 0);
}

/// MSG-194: no layer repeats a publish call whose bytes left; a closed port may be tried again.
#[tokio::test]
async fn msg_194_a_reset_publish_is_never_repeated() {
    let stage = Stage::start().await;
    for (n, action) in
        [FaultAction::DropAnswer, FaultAction::DropRequest, FaultAction::ResetAfterBytes { bytes: 3 }]
            .into_iter()
            .enumerate()
    {
        stage.twin.fault(Planned::once(SEND, action.clone()));
        let fault = stage.failed(text_part("C0GENERAL", "x")).await;
        assert_eq!((fault.class, stage.calls(SEND)), (FaultClass::Unknown, n + 1), "{action:?}");
    }
    let Stage { twin, channel } = stage;
    twin.shutdown().await;
    let crate::SendOutcome::Failed(fault) = tokio::time::timeout(
        Duration::from_secs(20),
        channel.deliver(text_part("C0GENERAL", "x"), &super::stage::Steps::default()),
    )
    .await
    .unwrap() else {
        panic!("nobody listens")
    };
    assert_eq!(fault.class, FaultClass::Retryable, "{fault}");
}

/// MSG-194: a status that means nothing leaves a publish unknown and a read repeatable; no redirect is followed.
#[tokio::test]
async fn msg_194_other_statuses_carry_no_meaning() {
    let stage = Stage::start().await;
    for (n, status) in [302, 404, 500, 503].into_iter().enumerate() {
        stage.twin.fault(Planned::once(SEND, FaultAction::Status { status }));
        let fault = stage.failed(text_part("C0GENERAL", "x")).await;
        assert_eq!((fault.class, stage.calls(SEND)), (FaultClass::Unknown, n + 1), "{status}: {fault}");
        stage.twin.fault(Planned::once("conversations.history", FaultAction::Status { status }));
        let fault = stage.channel.history(history("C0GENERAL")).await.unwrap_err();
        assert_eq!(fault.class, FaultClass::Retryable, "{status}: {fault}");
    }
}
