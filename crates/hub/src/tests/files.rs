//! Files that people send.

use bytes::Bytes;
use loom_domain::{
    artifact::Direction,
    inbox::State,
    message::{Attachment, AttachmentStatus},
};
use sha2::{Digest as _, Sha256};

use super::house::{House, until};
use crate::sweep::retain;

/// Tells the digest of every file it was given.
const DIGESTS: &str = "cat >/dev/null; for f in \"$LOOM_TURN_DIR\"/in/*; do [ -f \"$f\" ] && sha256sum < \"$f\" | cut -c1-64; done; echo end";

fn file(reference: &str, name: &str, mime: &str, size: u64) -> Attachment {
    Attachment {
        reference: reference.to_owned(),
        name: name.to_owned(),
        mime_type: Some(mime.to_owned()),
        size: Some(size),
        status: AttachmentStatus::Pending,
        reason: None,
        artifact_id: None,
        sha256: None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_113_the_agent_opens_a_copy_with_the_stated_digest() {
    let house = House::up().await;
    let (platform, _, _) = house.furnish(DIGESTS, &["C1"]).await;
    let bytes = Bytes::from_static(b"a,b\n1,2\n");
    platform.with(|s| s.files.insert("F1".to_owned(), bytes.clone()));
    let mut event = house.mention("C1", "1.1");
    event.content.attachments = vec![file("F1", "a.csv", "text/csv", 8)];
    let item = house.event(&platform, event).await;
    let detail = house.item_is(&item, State::Handled).await;
    let stated = detail.entry.message.current().attachments[0].sha256.clone().unwrap();
    assert_eq!(stated, hex::encode(Sha256::digest(&bytes)));
    assert_eq!(platform.texts("C1"), [format!("{stated}\nend")]);
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_114_a_mislabelled_program_is_held_and_a_huge_file_is_not_fetched() {
    let house = House::up().await;
    let (platform, _, _) = house.furnish(DIGESTS, &["C1"]).await;
    platform.with(|s| s.files.insert("F1".to_owned(), Bytes::from_static(b"\x7fELF program")));
    let mut event = house.mention("C1", "1.1");
    event.content.attachments =
        vec![file("F1", "a.pdf", "application/pdf", 12), file("F2", "b.pdf", "application/pdf", 30_000_000)];
    let item = house.event(&platform, event).await;
    let detail = house.item_is(&item, State::Handled).await;
    let statuses: Vec<_> = detail.entry.message.current().attachments.iter().map(|a| a.status).collect();
    assert_eq!(statuses, [AttachmentStatus::Quarantined, AttachmentStatus::TooLarge]);
    assert_eq!(platform.texts("C1"), ["end"]);
    house.end().await;
}

/// A day after nothing refers to it any more a file is gone, unless another record names the same bytes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_nothing_refers_to_are_removed_after_a_day() {
    let house = House::up().await;
    let put = |bytes: &'static [u8]| {
        house.hub().put_artifact(house.act(), "a.txt", None, Direction::Out, Bytes::from_static(bytes))
    };
    let (alone, shared) = (put(b"alone").await.unwrap(), put(b"shared").await.unwrap());
    house.pass_s(25 * 3_600);
    let kept = put(b"shared").await.unwrap();
    retain::run(house.hub()).await;
    assert!(house.store().artifact(alone.id).await.is_err());
    assert!(house.hub().blobs().verified(&alone.sha256).await.is_err());
    assert!(house.store().artifact(shared.id).await.is_err());
    assert!(house.store().artifact(kept.id).await.is_ok());
    assert!(house.hub().blobs().verified(&kept.sha256).await.is_ok());
    house.end().await;
}

/// A crash between the bytes and their record leaves bytes; the next start removes them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_without_a_record_are_removed_at_the_start() {
    let mut house = House::prepare().await;
    let blobs = house.blobs();
    let sha256 = blobs.put(Bytes::from_static(b"no record")).await.unwrap();
    house.start();
    until("the bytes are gone", || async { blobs.verified(&sha256).await.is_err().then_some(()) }).await;
    house.end().await;
}
