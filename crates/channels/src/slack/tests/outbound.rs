//! Sends that people see.

use loom_domain::outbox::Step;
use loom_domain::{ConversationType, TextFormat};
use loom_twins::slack::{Fault as Planned, FaultAction, Post};

use super::stage::{Hub, Stage, Steps, file_part, text_part};
use crate::{Channel, FaultClass, Mark, SendOutcome, SendPart};

fn reply(channel: &str, kind: ConversationType, thread: Option<&str>, message: &str) -> SendPart {
    let mut part = text_part(channel, "**answer** <!here>");
    part.is_reply = true;
    part.conversation_type = Some(kind);
    part.target.thread_id = thread.map(str::to_owned);
    part.target.message_id = Some(message.to_owned());
    part
}

/// MSG-156: replies go to the thread's root, outside DMs else below the message.
#[tokio::test]
async fn msg_156_replies_go_where_the_question_was() {
    let stage = Stage::start().await;
    let root = stage.twin.post(Post::new("C0GENERAL", "U0ANN", "root")).unwrap();
    let inner = stage.twin.post(Post::new("C0GENERAL", "U0ANN", "inner").in_thread(&root.ts)).unwrap();
    let dm = stage.twin.post(Post::new("D0ANN", "U0ANN", "dm")).unwrap();
    let in_thread =
        stage.sent(reply("C0GENERAL", ConversationType::Channel, Some(&root.ts), &inner.ts)).await;
    let in_dm = stage.sent(reply("D0ANN", ConversationType::Dm, None, &dm.ts)).await;
    let ledger = stage.twin.ledger();
    let thread = |channel: &str, ids: &crate::SentIds| {
        ledger.message(channel, ids.message_id.as_deref().unwrap()).unwrap().thread_ts.clone()
    };
    assert_eq!(thread("C0GENERAL", &in_thread), Some(root.ts));
    assert_eq!(in_thread.thread_id, thread("C0GENERAL", &in_thread));
    assert_eq!(thread("D0ANN", &in_dm), None);
    let message = ledger.message("D0ANN", in_dm.message_id.as_deref().unwrap()).unwrap();
    assert!(message.pings.is_empty(), "agent text must not notify: {}", message.text);
    let metadata = message.metadata.as_ref().unwrap();
    assert_eq!(metadata["event_type"], "loom_outbox");
    assert_eq!(metadata["event_payload"]["part"], text_part("", "").part_id.as_str());
}

/// MSG-176: plain text arrives as it was written, and a mention link notifies exactly one person.
#[tokio::test]
async fn msg_176_plain_text_and_mention_links() {
    let stage = Stage::start().await;
    let mut plain = text_part("C0GENERAL", "a < b & <@U0ANN>");
    plain.format = TextFormat::Plain;
    stage.sent(plain).await;
    stage.sent(text_part("C0GENERAL", "hi [Ann](mention:U0ANN) <@U0BOB>")).await;
    let ledger = stage.twin.ledger();
    let sent: Vec<_> = ledger.by_app().collect();
    assert_eq!((sent[0].text.as_str(), sent[0].pings.len()), ("a &lt; b &amp; &lt;@U0ANN&gt;", 0));
    assert_eq!(sent[1].pings, ["U0ANN"]);
}

/// MSG-157, MSG-200: text, then files in order, each with its message and file id.
#[tokio::test]
async fn msg_157_msg_200_text_then_files_with_all_ids() {
    let (stage, dir) = (Stage::start().await, tempfile::tempdir().unwrap());
    let text = stage.sent(text_part("C0GENERAL", "see the files")).await;
    let one = stage.sent(file_part(&dir, "C0GENERAL", 2, "one.txt", b"first")).await;
    let two = stage.sent(file_part(&dir, "C0GENERAL", 3, "two.bin", &vec![7; 70_000])).await;
    let ledger = stage.twin.ledger();
    let seen: Vec<_> = ledger.by_app().collect();
    assert_eq!(seen.len(), 3);
    assert_eq!(Some(seen[0].ts.clone()), text.message_id);
    for (message, ids, name) in [(seen[1], &one, "one.txt"), (seen[2], &two, "two.bin")] {
        assert_eq!(Some(message.ts.clone()), ids.message_id);
        assert_eq!(
            (Some(message.files[0].id.clone()), message.files[0].name.as_str()),
            (ids.file_id.clone(), name)
        );
    }
    assert_eq!(seen[2].files[0].size, 70_000);
}

/// MSG-166: the largest file of Loom passes whole, out and in.
#[tokio::test]
async fn msg_166_a_file_of_25_mib_passes() {
    const SIZE: usize = 26_214_400;
    let (stage, dir) = (Stage::start().await, tempfile::tempdir().unwrap());
    let part = file_part(&dir, "C0GENERAL", 1, "big.bin", &vec![5; SIZE]);
    let sha256 = part.file.as_ref().unwrap().sha256.clone();
    let ids = stage.sent(part).await;
    let ledger = stage.twin.ledger();
    let file = &ledger.by_app().next().unwrap().files[0];
    assert_eq!((file.size, &file.sha256), (SIZE, &sha256));
    let fetched = stage.channel.fetch_attachment(&ids.file_id.unwrap(), SIZE as u64).await.unwrap();
    assert_eq!(fetched.bytes.len(), SIZE);
}

/// MSG-200: with a session the echo gives the message's ts, however late the shares are.
#[tokio::test]
async fn msg_200_the_echo_gives_the_ts() {
    let (stage, dir, hub) = (Stage::start().await, tempfile::tempdir().unwrap(), Hub::new());
    let _served = stage.connected(&hub).await;
    stage.twin.knobs(|knobs| knobs.share_delay_ms = 600);
    let ids = stage.sent(file_part(&dir, "C0GENERAL", 1, "late.txt", b"late")).await;
    assert!(ids.message_id.is_some() && ids.file_id.is_some());
}

/// The steps are committed before the bytes of each leave, with the file id as key.
#[tokio::test]
async fn msg_182_steps_are_committed_in_order() {
    let (stage, dir) = (Stage::start().await, tempfile::tempdir().unwrap());
    let part = file_part(&dir, "C0GENERAL", 1, "a.txt", b"a");
    let steps = Steps::default();
    let SendOutcome::Sent(ids) = stage.channel.deliver(part.clone(), &steps).await else { panic!("sent") };
    let taken = steps.taken.lock().unwrap().clone();
    assert_eq!(
        taken,
        [(Step::Upload, None), (Step::Upload, ids.file_id.clone()), (Step::Publish, ids.file_id)]
    );

    for refused in [Step::Upload, Step::Publish] {
        let steps = Steps { refuse: Some(refused), ..Steps::default() };
        let before = stage.calls("files.completeUploadExternal");
        let SendOutcome::Failed(fault) = stage.channel.deliver(part.clone(), &steps).await else {
            panic!("refused")
        };
        assert_eq!(
            (fault.code.as_str(), stage.calls("files.completeUploadExternal")),
            ("lease_lost", before)
        );
    }
    let steps = Steps { refuse: Some(Step::Publish), ..Steps::default() };
    stage.channel.deliver(text_part("C0GENERAL", "x"), &steps).await;
    assert_eq!(stage.calls("chat.postMessage"), 0);
}

/// MSG-167: a damaged blob never leaves.
#[tokio::test]
async fn msg_167_a_damaged_file_never_leaves() {
    let (stage, dir) = (Stage::start().await, tempfile::tempdir().unwrap());
    let part = file_part(&dir, "C0GENERAL", 1, "a.txt", b"a");
    std::fs::write(dir.path().join("a.txt"), b"b").unwrap();
    let fault = stage.failed(part).await;
    assert_eq!((fault.class, fault.code.as_str()), (FaultClass::Permanent, "artifact_digest_mismatch"));
    assert!(stage.twin.requests().is_empty());
}

/// MSG-189: after a failure of the second file only that one is sent again.
#[tokio::test]
async fn msg_189_a_part_is_repeated_alone() {
    let (stage, dir) = (Stage::start().await, tempfile::tempdir().unwrap());
    stage.sent(text_part("C0GENERAL", "text")).await;
    stage.sent(file_part(&dir, "C0GENERAL", 2, "one.txt", b"1")).await;
    let code = "file_upload_size_restricted".to_owned();
    stage.twin.fault(Planned::once("files.completeUploadExternal", FaultAction::Error { code }));
    let second = file_part(&dir, "C0GENERAL", 3, "two.txt", b"2");
    assert_eq!(stage.failed(second.clone()).await.class, FaultClass::Permanent);
    stage.sent(second).await;
    let ledger = stage.twin.ledger();
    let files: Vec<_> =
        ledger.by_app().flat_map(|message| &message.files).map(|file| file.name.as_str()).collect();
    assert_eq!((ledger.by_app().count(), files), (3, vec!["one.txt", "two.txt"]));
}

#[tokio::test]
async fn the_working_mark_comes_and_goes() {
    let stage = Stage::start().await;
    let posted = stage.twin.post(Post::new("C0GENERAL", "U0ANN", "work")).unwrap();
    let reactions = || stage.twin.ledger().message("C0GENERAL", &posted.ts).unwrap().reactions.len();
    for _ in 0..2 {
        stage.channel.mark("C0GENERAL", &posted.ts, Mark::Working).await.unwrap();
        assert_eq!(reactions(), 1);
    }
    for _ in 0..2 {
        stage.channel.mark("C0GENERAL", &posted.ts, Mark::None).await.unwrap();
        assert_eq!(reactions(), 0);
    }
    stage.channel.mark("C0GENERAL", "command/e1", Mark::Working).await.unwrap();
}
