use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::{Profile, Rule, VaultKeys};

fn resolver(variables: &[(&str, &str)]) -> (Resolver, Redactor) {
    let redactor = Redactor::new();
    let map: HashMap<String, String> = variables.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    (Resolver::new(redactor.clone(), Arc::new(move |name| map.get(name).cloned())), redactor)
}

fn reference(text: &str) -> CredentialRef {
    CredentialRef::parse(text).unwrap()
}

async fn reason(resolver: &Resolver, text: &str, kind: Kind) -> String {
    let error = resolver.resolve(&reference(text), kind).await.unwrap_err();
    assert_eq!(error.code, Code::CredentialUnavailable);
    assert_eq!(error.detail["ref"], text);
    error.detail["reason"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn id_12_a_variable_holds_a_value_an_object_or_one_per_field() {
    let (resolver, redactor) = resolver(&[
        ("GH", "github-value"),
        ("SLACK", r#"{"bot_token":"bot-value-1","app_token":"app-value-1","other":"ignored-value"}"#),
        ("FEISHU_APP_ID", "cli_1"),
        ("FEISHU_APP_SECRET", "feishu-secret"),
    ]);
    let github = resolver.resolve(&reference("env:GH"), Kind::Github).await.unwrap();
    assert_eq!(github.get("token").unwrap().expose(), "github-value");
    let slack = resolver.resolve(&reference("env:SLACK"), Kind::Slack).await.unwrap();
    assert_eq!(slack.names().collect::<Vec<_>>(), ["app_token", "bot_token"]);
    let feishu = resolver.resolve(&reference("env:FEISHU"), Kind::Feishu).await.unwrap();
    assert_eq!(feishu.get("app_id").unwrap().expose(), "cli_1");
    for value in ["github-value", "bot-value-1", "app-value-1", "feishu-secret"] {
        assert_eq!(redactor.redact(value, Profile::Store), Rule::ExactSecret.marker());
    }
    assert!(!format!("{slack:?} {resolver:?} {redactor:?}").contains("bot-value-1"));
}

#[tokio::test]
async fn id_12_reasons_name_reference_and_field_but_never_the_value() {
    let (resolver, _) = resolver(&[("SHORT", "1234567"), ("PART", r#"{"app_token":"app-value-1"}"#)]);
    assert_eq!(reason(&resolver, "env:NOTHING", Kind::Plain).await, "missing");
    assert_eq!(reason(&resolver, "env:PART", Kind::Slack).await, "field_missing");
    assert_eq!(reason(&resolver, "env:SHORT", Kind::Plain).await, "too_short");
    assert_eq!(reason(&resolver, "vault:nothing", Kind::Plain).await, "missing");
    assert_eq!(reason(&resolver, "file:/nonexistent/file", Kind::Plain).await, "missing");
    let error = resolver.resolve(&reference("env:SHORT"), Kind::Plain).await.unwrap_err();
    assert!(!serde_json::to_string(&error).unwrap().contains("1234567"));
}

#[tokio::test]
async fn id_13_without_a_session_bus_the_reason_is_no_keychain() {
    let (resolver, _) = resolver(&[]);
    let resolver = resolver.with_keychain_timeout(Duration::from_millis(500));
    let reason = reason(&resolver, "keychain:loom-test-absent", Kind::Plain).await;
    assert!(["no_keychain", "missing", "locked"].contains(&reason.as_str()), "{reason}");
}

#[tokio::test]
async fn id_14_and_id_15_vault_and_file_resolve() {
    let home = tempfile::tempdir().unwrap();
    let vault = Vault::new(home.path(), VaultKeys::default());
    vault.set("hook", &Secret::new("hook-secret-value")).unwrap();
    let file = home.path().join("key");
    std::fs::write(&file, "file-secret-value\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let (resolver, redactor) = resolver(&[]);
    let resolver = resolver.with_vault(vault);
    let hook = resolver.resolve_field(&reference("vault:hook"), Kind::Webhook, "secret").await.unwrap();
    assert_eq!(hook.expose(), "hook-secret-value");
    let from_file = CredentialRef::File(file.clone());
    let value = resolver.resolve_field(&from_file, Kind::Plain, "value").await.unwrap();
    assert_eq!(value.expose(), "file-secret-value");
    assert!(redactor.holds_exact("file-secret-value") && redactor.holds_exact("hook-secret-value"));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let error = resolver.resolve(&from_file, Kind::Plain).await.unwrap_err();
    assert_eq!((error.code, &error.detail["rule"]), (Code::CredentialFileRefused, &"mode".into()));
}

#[tokio::test]
async fn msg_023_a_reference_is_read_only_when_it_is_resolved() {
    let reads = Arc::new(AtomicUsize::new(0));
    let counted = reads.clone();
    let resolver = Resolver::new(
        Redactor::new(),
        Arc::new(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            Some("variable-value".to_owned())
        }),
    );
    let parsed = reference("env:SOME_NAME");
    let shown = format!("{parsed} {parsed:?} {}", serde_json::to_string(&parsed).unwrap());
    assert!(!shown.contains("variable-value"));
    assert_eq!(reads.load(Ordering::SeqCst), 0);
    resolver.resolve(&parsed, Kind::Plain).await.unwrap();
    assert_eq!(reads.load(Ordering::SeqCst), 1);
}
