//! Files that are uploaded piece by piece.

use std::path::PathBuf;

use bytes::Bytes;
use loom_domain::{AgentId, Code, Principal, artifact::FILE_BYTES_MAX};
use loom_secrets::Secret;
use sha2::{Digest as _, Sha256};

use super::house::House;
use crate::Upload;

const VALUE: &str = "correct horse battery 7Qx2";

fn begun(house: &House, who: &Principal) -> loom_domain::Result<Upload> {
    house.hub().upload(who.clone(), Some("a.txt".to_owned()), None, None)
}

/// Every file below the folder of stored files.
fn files(house: &House) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(house.path("home/blobs")).unwrap().flatten();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).unwrap().flatten());
    files.map(|file| file.path()).collect()
}

/// Guard 9 of C.4: the bytes lie in a private file, not in memory, and go with an upload that breaks off.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_233_an_upload_is_streamed_and_leaves_nothing_when_it_breaks_off() {
    use std::os::unix::fs::MetadataExt as _;

    let house = House::up().await;
    let mut upload = begun(&house, &Principal::Owner).unwrap();
    for _ in 0..3 {
        upload.write(Bytes::from(vec![b'x'; 1_000_000])).await.unwrap();
    }
    let aside = files(&house);
    let meta = std::fs::metadata(&aside[0]).unwrap();
    assert_eq!((aside.len(), meta.len(), meta.mode() & 0o077), (1, 3_000_000, 0));
    drop(upload);
    assert!(files(&house).is_empty());
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_streamed_upload_is_stored_under_its_digest_and_other_bytes_than_announced_are_not() {
    let house = House::up().await;
    let digest = hex::encode(Sha256::digest(b"a,b\n1,2\n"));
    for (announced, expected) in [(digest.clone(), None), ("0".repeat(64), Some(Code::ArtifactChanged))] {
        let name = Some("a.csv".to_owned());
        let mut upload = house.hub().upload(Principal::Owner, name, Some(announced), Some(8)).unwrap();
        for piece in [&b"a,b\n"[..], b"1,2\n"] {
            upload.write(Bytes::from_static(piece)).await.unwrap();
        }
        let stored = upload.finish().await;
        assert_eq!(stored.as_ref().err().map(|error| error.code), expected);
        if let Ok(stored) = stored {
            assert_eq!((stored.sha256.as_str(), stored.size), (digest.as_str(), 8));
            assert_eq!(stored.mime_type, "text/plain");
        }
    }
    assert_eq!(files(&house), [house.path("home/blobs").join(&digest[..2]).join(&digest)]);
    house.end().await;
}

/// ID-19: a secret whose halves come in two pieces is seen, and nothing of the file stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn id_19_an_upload_with_a_secret_over_two_pieces_is_refused() {
    let house = House::up().await;
    house.hub().redactor().register(&Secret::new(VALUE));
    for before in [0, 131_062, 400_000] {
        let text = format!("{}{VALUE}\n{}", ".".repeat(before), ".".repeat(200_000));
        let (one, other) = text.split_at(before + 10);
        let mut upload = begun(&house, &Principal::Owner).unwrap();
        for piece in [one, other] {
            upload.write(Bytes::from(piece.to_owned())).await.unwrap();
        }
        assert_eq!(upload.finish().await.unwrap_err().code, Code::SecretInContent, "after {before} bytes");
        assert!(files(&house).is_empty());
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_limit_of_a_file_holds_while_it_is_streamed_and_an_empty_one_is_refused() {
    let house = House::up().await;
    let mut upload = begun(&house, &Principal::Owner).unwrap();
    let half = Bytes::from(vec![b'x'; usize::try_from(FILE_BYTES_MAX / 2).unwrap()]);
    for _ in 0..2 {
        upload.write(half.clone()).await.unwrap();
    }
    assert_eq!(upload.write(Bytes::from_static(b"x")).await.unwrap_err().code, Code::TooLarge);
    drop(upload);
    let empty = begun(&house, &Principal::Owner).unwrap();
    assert_eq!(empty.finish().await.unwrap_err().code, Code::TooLarge);
    assert!(files(&house).is_empty());
    house.end().await;
}

/// A principal has a few uploads at once; the next is told when to come, and others are not in its way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_principal_has_few_uploads_at_once() {
    let house = House::up().await;
    let agent = Principal::Agent(AgentId::new(1, 1));
    let mut uploads: Vec<_> = (0..4).map(|_| begun(&house, &agent).unwrap()).collect();
    let refused = begun(&house, &agent).err().unwrap();
    assert_eq!(refused.code, Code::RateLimited);
    assert!(refused.hint.is_some() && refused.retry_after_ms.is_some());
    assert!(begun(&house, &Principal::Owner).is_ok());
    uploads.pop();
    assert!(begun(&house, &agent).is_ok());
    house.end().await;
}
