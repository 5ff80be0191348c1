//! Tokens of external gateways: none is made that cannot be kept.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::{FakeHub, Ran, id, run};

fn issue(hub: &FakeHub, file: &std::path::Path) -> Ran {
    let file = file.to_string_lossy();
    run(hub, &["--format", "json", "integration", "token", &id("con"), "--out", &file])
}

fn issuing() -> FakeHub {
    FakeHub::always(201, json!({"id": id("tok"), "token": "lct_value", "expiresAt": null}))
}

#[test]
fn a_token_goes_into_a_new_private_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("token.txt");
    let ran = issue(&issuing(), &file);
    assert_eq!((ran.exit, ran.json()["id"].clone()), (0, json!(id("tok"))));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "lct_value\n");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_file_that_exists_is_refused_before_a_token_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("token.txt");
    std::fs::write(&file, "kept").unwrap();
    let hub = issuing();
    let ran = issue(&hub, &file);
    assert_eq!((ran.exit, ran.code().as_str()), (1, "credential_file_refused"));
    assert!(hub.seen().is_empty(), "no token was asked for");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
}

#[test]
fn a_refusal_leaves_no_file_behind() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("token.txt");
    let hub = FakeHub::always(
        404,
        json!({"code": "not_found", "message": "no such Connection", "retryable": false}),
    );
    assert_ne!(issue(&hub, &file).exit, 0);
    assert!(!file.exists());
}

#[test]
fn a_token_that_cannot_be_kept_is_revoked() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("folder");
    std::fs::create_dir(&folder).unwrap();
    let gone = folder.clone();
    let hub = FakeHub::start(move |seen| match seen.method.as_str() {
        "POST" => {
            std::fs::remove_dir_all(&gone).unwrap();
            (201, json!({"id": id("tok"), "token": "lct_value", "expiresAt": null}))
        }
        _ => (200, json!({})),
    });
    let ran = issue(&hub, &folder.join("token.txt"));
    assert_eq!((ran.exit, ran.code().as_str()), (1, "credential_file_refused"));
    let seen = hub.seen();
    assert_eq!(seen.iter().map(|one| one.method.as_str()).collect::<Vec<_>>(), ["POST", "DELETE"]);
    assert!(seen[1].path.ends_with(&id("tok")), "{}", seen[1].path);
}
