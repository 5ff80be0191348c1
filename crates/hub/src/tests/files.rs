//! Files that people send.

use bytes::Bytes;
use loom_api::request::{Content, File, Send};
use loom_domain::{
    Artifact, ArtifactId, Code, MembershipId, Principal,
    artifact::Direction,
    inbox::State,
    message::{Attachment, AttachmentStatus},
};
use loom_secrets::Secret;
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

/// Tells the ids of files that the envelope names.
const IDS: &str = "grep -o 'art_[A-Za-z0-9]*' | sort -u; echo end";

/// What the principal is told when it asks whether it may send the file.
async fn asked(house: &House, who: &Principal, to: &MembershipId, file: &ArtifactId) -> Option<Code> {
    let file = File { artifact_id: Some(file.to_string()), ..File::default() };
    let send = Send {
        from: Some("docs".to_owned()),
        membership_id: Some(to.to_string()),
        idempotency_key: Some("k".to_owned()),
        content: Content { text: "see".to_owned(), files: vec![file], ..Content::default() },
        ..Send::default()
    };
    house.hub().admission(who.clone(), send).await.err().map(|error| error.code)
}

async fn uploaded(house: &House, who: &Principal, bytes: &'static [u8]) -> Artifact {
    let act = house.hub().act(who.clone());
    house.hub().put_artifact(act, "a.txt", None, Direction::Out, Bytes::from_static(bytes)).await.unwrap()
}

/// An id that an Agent learned is no file of its own, and what is held stays until the owner releases it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn atk_28_an_agent_sends_its_own_files_only_and_a_held_one_goes_nowhere() {
    let house = House::up().await;
    let (platform, _, address) = house.furnish(IDS, &["C1"]).await;
    let to = house.channel(&address, "C1").await;
    let docs = Principal::Agent(house.store().agent_by("docs".to_owned()).await.unwrap().id);
    let other = Principal::Agent(house.agent("other", IDS).await.id);
    platform.with(|s| {
        s.files.insert("F1".to_owned(), Bytes::from_static(b"a,b\n1,2\n"));
        s.files.insert("F2".to_owned(), Bytes::from_static(b"\x7fELF program"));
    });
    let mut event = house.mention("C1", "1.1");
    event.content.attachments =
        vec![file("F1", "a.csv", "text/csv", 8), file("F2", "a.pdf", "application/pdf", 12)];
    let item = house.event(&platform, event).await;
    let detail = house.item_is(&item, State::Handled).await;
    let ids = detail.entry.message.current().attachments.iter().filter_map(|file| file.artifact_id.clone());
    let [ready, held]: [ArtifactId; 2] = ids.collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(platform.texts("C1"), [format!("{ready}\nend")], "the envelope keeps the held file's id back");
    let (own, others) = (uploaded(&house, &docs, b"own").await, uploaded(&house, &other, b"others").await);
    let owners = uploaded(&house, &Principal::Owner, b"owners").await;
    let unknown = ArtifactId::new(0, 1);
    for (file, expected) in [
        (&ready, None),
        (&own.id, None),
        (&held, Some(Code::FileRefused)),
        (&others.id, Some(Code::ArtifactMissing)),
        (&owners.id, Some(Code::ArtifactMissing)),
        (&unknown, Some(Code::ArtifactMissing)),
    ] {
        assert_eq!(asked(&house, &docs, &to, file).await, expected, "{file}");
    }
    for (file, expected) in [(&ready, None), (&others.id, None), (&held, Some(Code::FileRefused))] {
        assert_eq!(asked(&house, &Principal::Owner, &to, file).await, expected, "{file}");
    }
    house.store().release_attachment(house.act(), item, held.clone()).await.unwrap();
    assert_eq!(asked(&house, &docs, &to, &held).await, None);
    house.end().await;
}

/// ID-19: a file that somebody sent, or that was stored before the secret was known, takes no secret out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn id_19_a_received_or_earlier_file_with_a_secret_is_never_sent() {
    let house = House::up().await;
    let (platform, _, address) = house.furnish(IDS, &["C1"]).await;
    let to = house.channel(&address, "C1").await;
    let docs = Principal::Agent(house.store().agent_by("docs".to_owned()).await.unwrap().id);
    let bytes = b"key = correct horse battery 7Qx2\n";
    let earlier = uploaded(&house, &docs, bytes).await;
    house.hub().redactor().register(&Secret::new("correct horse battery 7Qx2"));
    platform.with(|s| s.files.insert("F1".to_owned(), Bytes::from_static(bytes)));
    let mut event = house.mention("C1", "1.1");
    event.content.attachments = vec![file("F1", "a.txt", "text/plain", 33)];
    let item = house.event(&platform, event).await;
    let detail = house.item_is(&item, State::Handled).await;
    let received = detail.entry.message.current().attachments[0].artifact_id.clone().unwrap();
    for file in [&received, &earlier.id] {
        for who in [&docs, &Principal::Owner] {
            assert_eq!(asked(&house, who, &to, file).await, Some(Code::SecretInContent));
        }
    }
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
