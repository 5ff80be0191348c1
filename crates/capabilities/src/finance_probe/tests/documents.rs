use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn wanted(path: Option<&std::path::Path>) -> Value {
    let mut input = json!({"ticker": "AAPL", "form": ["10-K"], "document": true});
    if let Some(path) = path {
        input["document_out"] = json!(path.to_str().unwrap());
    }
    input
}

#[tokio::test]
async fn a_document_is_hashed_and_shown_without_its_markup() {
    let twin = twin().await;
    let payload = ask(&twin, "filing", wanted(None)).await;
    let document = &payload.items[0]["document"];
    assert_eq!(document["content_type"], "text/html; charset=utf-8");
    assert!(document["title"].as_str().unwrap().starts_with("Apple Inc. 10-K"));
    let text = document["text_excerpt"].as_str().unwrap();
    assert!(text.starts_with("Apple Inc. Form 10-K") && !text.contains('<'));
    assert_eq!(document["url"], payload.items[0]["document_url"]);
    assert_eq!(document["sha256"].as_str().unwrap().len(), 71);
    assert_eq!(payload.content_trust, "untrusted");
    assert_eq!(payload.source_refs.last().unwrap().kind, "sec_document");
}

#[tokio::test]
async fn a_document_goes_into_a_new_file_that_nobody_else_reads() {
    let (twin, dir) = (twin().await, tempfile::tempdir().unwrap());
    let path = dir.path().join("report.htm");
    let payload = ask(&twin, "filing", wanted(Some(&path))).await;
    assert!(payload.ok, "{:?}", payload.error);
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(payload.items[0]["document"]["sha256"], crate::sha256_of_bytes(&bytes));
    assert_eq!(payload.items[0]["document"]["size_bytes"], bytes.len());
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    // A file that is there is left alone, and nothing is asked for.
    let before = twin.request_count();
    let mut request = request(&twin, "filing", wanted(Some(&path)));
    request.input["ticker"] = json!(null);
    request.input.as_object_mut().unwrap().remove("ticker");
    request.input["cik"] = json!("320193");
    let refused = crate::run(&world(), &FinanceProbe::new(), request, None, &mut NoObserver).await.unwrap();
    assert_eq!((code(&refused), twin.request_count()), (Some(Code::InvalidInput), before));
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[tokio::test]
async fn a_document_that_breaks_off_or_is_too_large_leaves_no_file() {
    let (twin, dir) = (twin().await, tempfile::tempdir().unwrap());
    let path = dir.path().join("report.htm");
    twin.fault(Fault::always("/Archives/*", FaultAction::Cut { bytes: 20 }));
    let cut = ask(&twin, "filing", wanted(Some(&path))).await;
    assert_eq!((code(&cut), path.exists()), (Some(Code::ProviderNetworkError), false));
    let mut agents = world();
    agents.principal = loom_domain::Principal::Viewer;
    let refused = ask_in(&agents, &twin, "filing", wanted(Some(&path))).await;
    assert_eq!((code(&refused), path.exists()), (Some(Code::Forbidden), false));
}
