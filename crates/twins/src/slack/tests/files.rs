//! Uploads that appear later, and downloads that need the scope.

use bytes::Bytes;
use http_body_util::Full;
use serde_json::{Value, json};

use super::client::{BOT, LIMIT, Reply, call, request, send, twin};
use crate::slack::{Action, Post, SlackTwin};

async fn put(twin: &SlackTwin, url: &str, content_type: &str, bytes: &[u8]) -> Reply {
    let path = url.strip_prefix(&twin.origin()).unwrap();
    let request = request(twin, "POST", path).header("content-type", content_type);
    send(twin, request.body(Full::new(Bytes::copy_from_slice(bytes))).unwrap()).await.unwrap()
}

async fn begin(twin: &SlackTwin, length: usize) -> (String, String) {
    let begun =
        call(twin, "files.getUploadURLExternal", json!({"filename": "a.txt", "length": length})).await;
    (begun["upload_url"].as_str().unwrap().to_owned(), begun["file_id"].as_str().unwrap().to_owned())
}

fn completion(id: &str) -> Value {
    json!({"files": [{"id": id, "title": "A"}], "channel_id": "C0GENERAL", "initial_comment": "look"})
}

#[tokio::test]
async fn an_upload_appears_after_a_while_and_then_has_a_share() {
    let twin = twin().await;
    twin.knobs(|k| k.share_delay_ms = 100);
    let (url, id) = begin(&twin, 5).await;
    assert_eq!(call(&twin, "files.completeUploadExternal", completion(&id)).await["error"], "file_not_found");
    assert_eq!(put(&twin, &url, "text/plain", b"four").await.status, 400);
    assert_eq!(put(&twin, &url, "text/plain", b"hello").await.status, 200);
    let info = async || call(&twin, "files.info", json!({"file": id})).await["file"]["shares"].clone();
    assert_eq!(
        call(&twin, "files.completeUploadExternal", completion(&id)).await["files"][0]["id"],
        json!(id)
    );
    assert_eq!(info().await, json!({}));
    let ledger = twin.wait_for_app_messages(1, LIMIT).await.unwrap();
    let seen = &ledger.messages[0];
    assert_eq!((seen.text.as_str(), seen.files[0].size), ("look", 5));
    assert_eq!(info().await["public"]["C0GENERAL"][0]["ts"], json!(seen.ts));
}

#[tokio::test]
async fn a_multipart_upload_counts_only_the_part() {
    let twin = twin().await;
    let (url, id) = begin(&twin, 5).await;
    let body = b"--b\r\nContent-Disposition: form-data; name=\"body\"; filename=\"Untitled\"\r\n\r\nhello\r\n--b--\r\n";
    assert_eq!(put(&twin, &url, "multipart/form-data; boundary=b", body).await.status, 200);
    call(&twin, "files.completeUploadExternal", completion(&id)).await;
    assert_eq!(twin.wait_for_app_messages(1, LIMIT).await.unwrap().messages[0].files[0].size, 5);
}

#[tokio::test]
async fn a_download_without_the_scope_is_a_login_page() {
    let twin = twin().await;
    let posted =
        twin.post(Post::new("C0GENERAL", "U0ANN", "see").with_file("päge 1.txt", b"secret")).unwrap();
    let file = call(&twin, "files.info", json!({"file": posted.file_ids[0]})).await["file"].clone();
    let url = file["url_private_download"].as_str().unwrap().to_owned();
    let get = async || {
        let request = request(&twin, "GET", url.strip_prefix(&twin.origin()).unwrap());
        let request = request.header("authorization", format!("Bearer {BOT}"));
        send(&twin, request.body(Full::default()).unwrap()).await.unwrap()
    };
    let good = get().await;
    assert_eq!((good.status, good.body.as_ref()), (200, b"secret".as_ref()));
    twin.act(Action::RemoveScope { scope: "files:read".into() }).unwrap();
    let page = get().await;
    assert_eq!(page.status, 200);
    assert!(page.headers["content-type"].to_str().unwrap().starts_with("text/html"));
}
