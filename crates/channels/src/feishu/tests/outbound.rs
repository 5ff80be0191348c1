//! Sends that people see.

use loom_domain::TextFormat;
use loom_domain::outbox::Step;
use loom_twins::lark::{Fault as Planned, FaultAction};
use serde_json::json;

use super::stage::{CHAT, SEND, Stage, Steps, file_part, text_part};
use crate::{Channel, FaultClass, Mark, SendOutcome};

#[tokio::test]
async fn a_text_arrives_as_one_md_element_with_a_receipt() {
    let stage = Stage::start().await;
    let ids = stage.sent(text_part(1, "# Title\n**bold** <at user_id=\"all\"></at>")).await;
    let sent = stage.messages();
    assert_eq!((sent.len(), ids.message_id.as_deref()), (1, Some(sent[0].id.as_str())));
    let md = "#### Title\n**bold** \u{FF1C}at user_id=\"all\">\u{FF1C}/at>";
    assert_eq!(sent[0].content, json!({"zh_cn": {"title": "", "content": [[{"tag": "md", "text": md}]]}}));
    assert!(sent[0].mentions.is_empty() && ids.provider_time.is_some());
}

/// MSG-176: plain text is a text message, and a mention link mentions exactly one person.
#[tokio::test]
async fn msg_176_plain_text_and_mention_links() {
    let stage = Stage::start().await;
    let plain = text_part(1, "a < b & <at user_id=\"ou_ann\">");
    stage.sent(crate::SendPart { format: TextFormat::Plain, ..plain }).await;
    stage.sent(text_part(2, "hi [Ann](mention:ou_ann) <at user_id=\"ou_bob\">")).await;
    let sent = stage.messages();
    assert_eq!((sent[0].kind.as_str(), sent[0].mentions.len()), ("text", 0));
    assert_eq!(sent[0].content["text"], "a < b & \u{FF1C}at user_id=\"ou_ann\">");
    let people: Vec<&str> = sent[1].mentions.iter().map(|(_, id, _)| id.as_str()).collect();
    assert_eq!(people, ["ou_ann"]);
}

/// MSG-181: an answer stays with its message, and opens no thread where there was none.
#[tokio::test]
async fn msg_181_answers_open_no_thread() {
    let stage = Stage::start().await;
    let mut part = text_part(1, "answer");
    part.is_reply = true;
    part.target.message_id = Some("om_00000003".to_owned());
    let ids = stage.sent(part).await;
    let sent = stage.messages();
    assert_eq!(
        (sent[0].parent.as_deref(), &sent[0].thread, ids.thread_id),
        (Some("om_00000003"), &None, None)
    );
}

/// A topic is entered through one of its messages; where a group knows none, the answer goes to the group.
#[tokio::test]
async fn a_topic_is_answered_in_the_topic() {
    let stage = Stage::start().await;
    stage.twin.edit(|world| world.messages[4].thread = Some("omt_5".to_owned()));
    let mut part = text_part(1, "in the topic");
    part.target.thread_id = Some("omt_5".to_owned());
    let ids = stage.sent(part.clone()).await;
    assert_eq!(ids.thread_id.as_deref(), Some("omt_5"));
    stage.twin.edit(|world| world.topics = false);
    let plainly = stage.sent(crate::SendPart { part_id: loom_domain::PartId::new(1, 2), ..part }).await;
    let sent = stage.messages();
    assert_eq!((sent.len(), plainly.thread_id, sent[1].parent.clone()), (2, None, None));
}

/// A post that is refused as a bad parameter goes as text once, under the same key.
#[tokio::test]
async fn a_post_that_is_refused_goes_as_text() {
    let stage = Stage::start().await;
    stage.twin.edit(|world| world.posts = false);
    stage.sent(text_part(1, "**x** <b>y</b>")).await;
    let sent = stage.messages();
    assert_eq!((sent.len(), sent[0].kind.as_str(), stage.calls(SEND)), (1, "text", 2));
    assert_eq!(sent[0].content["text"], "**x** \u{FF1C}b>y\u{FF1C}/b>");
}

/// MSG-157: text, then files in order, each with its message and its key; images as images.
#[tokio::test]
async fn msg_157_text_then_files_with_all_ids() {
    let (stage, dir) = (Stage::start().await, tempfile::tempdir().unwrap());
    stage.sent(text_part(1, "see the files")).await;
    let image = stage.sent(file_part(&dir, 2, "a.png", b"\x89PNG and more")).await;
    let report = stage.sent(file_part(&dir, 3, "r.pdf", &vec![7; 70_000])).await;
    let film = stage.sent(file_part(&dir, 4, "f.mp4", b"film")).await;
    let no_image = stage.sent(file_part(&dir, 5, "b.png", b"no image")).await;
    let (sent, files) = (stage.messages(), stage.twin.world().files);
    let kinds: Vec<&str> = sent.iter().map(|message| message.kind.as_str()).collect();
    assert_eq!(kinds, ["post", "image", "file", "media", "file"]);
    for (ids, at) in [(&image, 0), (&report, 1), (&film, 2), (&no_image, 3)] {
        assert_eq!(ids.file_id.as_deref(), Some(files[at].key.as_str()));
        assert_eq!(ids.message_id.as_deref(), Some(sent[at + 1].id.as_str()));
    }
    assert_eq!(
        (files[1].bytes.len(), files[1].kind.as_str(), files[1].name.as_str()),
        (70_000, "pdf", "r.pdf")
    );
    let reference = format!("{}/{}/file", report.message_id.unwrap(), report.file_id.unwrap());
    let fetched = stage.channel.fetch_attachment(&reference, 100_000).await.unwrap();
    assert_eq!(fetched.bytes.len(), 70_000);
    assert!(stage.channel.fetch_attachment(&reference, 69_999).await.is_err());
}

/// MSG-170: an image over ten MiB goes as a file.
#[tokio::test]
async fn msg_170_a_large_image_goes_as_a_file() {
    let (stage, dir) = (Stage::start().await, tempfile::tempdir().unwrap());
    let mut bytes = vec![0; 11_000_000];
    bytes[..4].copy_from_slice(b"\x89PNG");
    stage.sent(file_part(&dir, 1, "large.png", &bytes)).await;
    assert_eq!(stage.messages()[0].kind, "file");
    assert_eq!(stage.twin.world().files[0].bytes.len(), 11_000_000);
}

/// The steps are committed before the bytes of each leave, with the key of the upload.
#[tokio::test]
async fn msg_182_steps_are_committed_in_order() {
    let (stage, dir) = (Stage::start().await, tempfile::tempdir().unwrap());
    let part = file_part(&dir, 1, "a.txt", b"a");
    let steps = Steps::default();
    let SendOutcome::Sent(ids) = stage.channel.deliver(part.clone(), &steps).await else { panic!("sent") };
    let key = Some(format!("file:{}", ids.file_id.unwrap()));
    assert_eq!(*steps.taken.lock().unwrap(), [(Step::Upload, None), (Step::Publish, key)]);
    for part in [part, text_part(2, "x")] {
        let steps = Steps { refuse: Some(Step::Publish), ..Steps::default() };
        let SendOutcome::Failed(fault) = stage.channel.deliver(part, &steps).await else { panic!("refused") };
        assert_eq!((fault.code.as_str(), stage.messages().len()), ("lease_lost", 1));
    }
}

/// A token that the platform ends is renewed once, and the message is sent once.
#[tokio::test]
async fn a_token_that_ended_is_renewed_once() {
    let stage = Stage::start().await;
    stage.sent(text_part(1, "one")).await;
    stage.twin.end_tokens();
    stage.sent(text_part(2, "two")).await;
    let exchange = "/open-apis/auth/v3/tenant_access_token/internal";
    assert_eq!((stage.calls(exchange), stage.messages().len()), (2, 2));
    let code = FaultAction::Code { status: 400, code: 99_991_663, reset_seconds: None };
    stage.twin.fault(Planned::always(SEND, code));
    assert_eq!(stage.failed(text_part(3, "three")).await.class, FaultClass::Auth);
    assert_eq!((stage.calls(exchange), stage.calls(SEND)), (3, 5));
}

#[tokio::test]
async fn the_working_mark_comes_and_goes() {
    let stage = Stage::start().await;
    let reactions = || stage.twin.world().reactions.len();
    for _ in 0..2 {
        stage.channel.mark(CHAT, "om_00000003", Mark::Working).await.unwrap();
        assert_eq!(reactions(), 1);
    }
    for _ in 0..2 {
        stage.channel.mark(CHAT, "om_00000003", Mark::None).await.unwrap();
        assert_eq!(reactions(), 0);
    }
    stage.channel.mark(CHAT, "command/e1", Mark::Working).await.unwrap();
}
