//! Sends that fail, and what is known afterwards.

use loom_twins::lark::{Fault as Planned, FaultAction};

use super::stage::{SEND, Stage, file_part, text_part};
use crate::{FaultClass, Settlement};

/// Beyond the time that a uuid is remembered for sure.
const LATER_MS: i64 = 51 * 60 * 1_000;

fn code(status: u16, code: i64, reset_seconds: Option<u64>) -> FaultAction {
    FaultAction::Code { status, code, reset_seconds }
}

/// MSG-184: after a lost answer the same uuid gives the one message.
#[tokio::test]
async fn msg_184_a_lost_answer_is_settled_by_the_same_uuid() {
    let stage = Stage::start().await;
    for (n, action) in
        [FaultAction::DropAfterActing, FaultAction::StatusAfterActing { status: 502 }].into_iter().enumerate()
    {
        let part = text_part(u32::try_from(n).unwrap(), "# once\n```\ncode\n```");
        stage.twin.fault(Planned::once(SEND, action.clone()));
        assert_eq!(stage.failed(part.clone()).await.class, FaultClass::Unknown, "{action:?}");
        let Settlement::Found(ids) = stage.settle(part, None).await else { panic!("{action:?}") };
        let sent = stage.messages();
        assert_eq!((sent.len(), ids.message_id.as_deref()), (n + 1, Some(sent[n].id.as_str())));
    }
}

/// MSG-184: a request that never arrived is sent by the question, once.
#[tokio::test]
async fn msg_184_a_lost_request_is_sent_by_the_question() {
    let (stage, dir) = (Stage::start().await, tempfile::tempdir().unwrap());
    stage.twin.fault(Planned::once(SEND, FaultAction::Drop));
    let part = text_part(1, "late");
    assert_eq!(stage.failed(part.clone()).await.class, FaultClass::Unknown);
    assert!(matches!(stage.settle(part, None).await, Settlement::Found(_)));
    stage.twin.fault(Planned::once(SEND, FaultAction::DropAfterActing));
    let file = file_part(&dir, 2, "a.txt", b"a");
    assert_eq!(stage.failed(file.clone()).await.class, FaultClass::Unknown);
    assert_eq!(stage.settle(file.clone(), None).await, Settlement::NotFound);
    let key = format!("file:{}", stage.twin.world().files[0].key);
    let Settlement::Found(ids) = stage.settle(file, Some(key)).await else { panic!("found") };
    assert_eq!((ids.file_id.is_some(), stage.messages().len()), (true, 2));
}

/// While the first request is on its way, or the platform refuses the question, nothing is concluded.
#[tokio::test]
async fn msg_184_another_answer_leaves_the_part_unknown() {
    let stage = Stage::start().await;
    for (number, wait) in [(230_049, Some(5_000)), (230_002, None)] {
        stage.twin.fault(Planned::once(SEND, code(400, number, None)));
        let Settlement::Unanswered(fault) = stage.settle(text_part(1, "x"), None).await else {
            panic!("{number}")
        };
        assert_eq!((fault.code, fault.retry_after_ms), (number.to_string(), wait));
    }
    assert!(stage.messages().is_empty());
}

/// MSG-184: later than the uuid is remembered, nothing is sent again; the conversation is looked at.
#[tokio::test]
async fn msg_184_later_only_a_look_decides() {
    let stage = Stage::start().await;
    let part = text_part(1, "# A\n\n- **one** of `them`\n\n```rust\nlet x = 1;\n```\n");
    stage.sent(part.clone()).await;
    stage.twin.edit(|world| world.uuid_memory_ms = 0);
    stage.clock.by_ms(LATER_MS);
    let sends = stage.calls(SEND);
    let Settlement::Found(ids) = stage.settle(part.clone(), None).await else { panic!("found") };
    assert_eq!(ids.message_id.as_deref(), Some(stage.messages()[0].id.as_str()));
    let Settlement::Unanswerable(fault) = stage.settle(text_part(2, "never"), None).await else {
        panic!("open")
    };
    assert_eq!((fault.code.as_str(), stage.calls(SEND)), ("no_clear_answer", sends));

    let again = crate::SendPart { part_id: loom_domain::PartId::new(1, 3), ..part.clone() };
    stage.sent(again).await;
    let Settlement::Unanswerable(fault) = stage.settle(part, None).await else { panic!("two are none") };
    let ids: Vec<String> = stage.messages().into_iter().map(|message| message.id).collect();
    assert!(ids.iter().all(|id| fault.message.contains(id.as_str())), "{fault}");
    stage.twin.fault(Planned::once(SEND, code(400, 230_027, None)));
    assert!(matches!(stage.settle(text_part(4, "x"), None).await, Settlement::Unanswerable(_)));
}

/// MSG-191: classes and waits come from the platform's answer.
#[tokio::test]
async fn msg_191_answers_have_their_classes() {
    let stage = Stage::start().await;
    for (status, number, reset, class, wait) in [
        (429, 99_991_400, Some(9), FaultClass::RateLimited, Some(9_000)),
        (400, 230_020, None, FaultClass::RateLimited, Some(1_000)),
        (400, 99_991_403, None, FaultClass::Quota, None),
        (400, 230_002, None, FaultClass::Permanent, None),
        (400, 230_027, None, FaultClass::MissingScope, None),
        (400, 230_049, None, FaultClass::Retryable, Some(5_000)),
    ] {
        stage.twin.fault(Planned::once(SEND, code(status, number, reset)));
        let fault = stage.failed(text_part(1, "x")).await;
        assert_eq!((fault.class, fault.retry_after_ms), (class, wait), "{number}");
    }
    assert!(stage.messages().is_empty());
}
