use std::os::unix::fs::PermissionsExt;

use super::*;

fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn secret(text: &str) -> Secret {
    Secret::new(text)
}

#[test]
fn id_14_a_key_file_vault_keeps_values_and_the_previous_version() {
    let home = home();
    let vault = Vault::new(home.path(), VaultKeys::default());
    assert_eq!(vault.list().unwrap(), Vec::<String>::new());
    vault.set("slack/bot", &secret("first-value")).unwrap();
    let before = std::fs::read(home.path().join("secrets/vault.loom")).unwrap();
    vault.set("github", &secret("second-value")).unwrap();
    assert_eq!(std::fs::read(home.path().join("secrets/vault.loom.prev")).unwrap(), before);

    let again = Vault::new(home.path(), VaultKeys::default());
    assert_eq!(again.list().unwrap(), ["github", "slack/bot"]);
    assert_eq!(again.get("slack/bot").unwrap(), Some(secret("first-value")));
    assert_eq!(again.key_source().unwrap(), Some(KeySource::KeyFile));
    assert!(again.remove("github").unwrap());
    assert!(!again.remove("github").unwrap());
    for file in ["vault.loom", "vault.loom.prev", "vault.key"] {
        let mode = std::fs::metadata(home.path().join("secrets").join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o600, "{file}");
    }
}

#[test]
fn id_14_the_file_holds_no_value_or_name() {
    let home = home();
    let vault = Vault::new(home.path(), VaultKeys::default());
    vault.set("entry-name", &secret("canary-value")).unwrap();
    let bytes = std::fs::read(home.path().join("secrets/vault.loom")).unwrap();
    for text in ["canary-value", "entry-name"] {
        assert!(memchr::memmem::find(&bytes, text.as_bytes()).is_none());
    }
}

#[test]
fn id_14_a_passphrase_vault_opens_with_its_passphrase_only() {
    let home = home();
    let keys = |text: &str| VaultKeys { passphrase: Some(secret(text)), ..VaultKeys::default() };
    Vault::new(home.path(), keys("right horse")).set("a", &secret("the-value")).unwrap();
    assert!(!home.path().join("secrets/vault.key").exists());
    assert_eq!(Vault::new(home.path(), keys("right horse")).get("a").unwrap(), Some(secret("the-value")));
    for keys in [keys("wrong horse"), VaultKeys::default()] {
        let error = Vault::new(home.path(), keys).get("a").unwrap_err();
        assert_eq!((error.code, &error.detail["reason"]), (Code::CredentialUnavailable, &"locked".into()));
    }
}

#[test]
fn id_14_a_systemd_credential_is_preferred() {
    let home = home();
    let directory = home.path().join("credentials");
    std::fs::create_dir(&directory).unwrap();
    let credential = directory.join("loom-vault-key");
    std::fs::write(&credential, "0123456789abcdef0123456789abcdef").unwrap();
    std::fs::set_permissions(&credential, std::fs::Permissions::from_mode(0o400)).unwrap();
    let keys = VaultKeys { credentials_directory: Some(directory), passphrase: Some(secret("unused words")) };
    let vault = Vault::new(home.path(), keys.clone());
    vault.set("a", &secret("the-value")).unwrap();
    assert_eq!(vault.key_source().unwrap(), Some(KeySource::Systemd));
    assert_eq!(Vault::new(home.path(), keys).get("a").unwrap(), Some(secret("the-value")));
}

#[test]
fn id_14_every_changed_byte_is_noticed() {
    let home = home();
    let vault = Vault::new(home.path(), VaultKeys::default());
    vault.set("a", &secret("the-value")).unwrap();
    let path = home.path().join("secrets/vault.loom");
    let good = std::fs::read(&path).unwrap();
    for at in (0..good.len()).step_by(5) {
        let mut bad = good.clone();
        bad[at] ^= 1;
        write_private(&path, &bad).unwrap();
        assert!(Vault::new(home.path(), VaultKeys::default()).get("a").is_err(), "{at}");
    }
    write_private(&path, &good[..good.len() - 1]).unwrap();
    assert!(vault.get("a").is_err());
}

#[test]
fn id_14_limits_and_names() {
    let home = home();
    let vault = Vault::new(home.path(), VaultKeys::default());
    let big = "x".repeat(VAULT_ENTRY_BYTES_MAX + 1);
    assert_eq!(vault.set("a", &secret(&big)).unwrap_err().code, Code::TooLarge);
    vault.set("a", &secret(&big[1..])).unwrap();
    assert_eq!(vault.set("a b", &secret("the-value")).unwrap_err().code, Code::InvalidArgument);
    let error = vault.set("a", &secret("short")).unwrap_err();
    assert_eq!(error.detail["reason"], "too_short");
}

#[test]
fn atk_41_a_vault_in_a_writable_directory_or_behind_a_link_is_refused() {
    let home = home();
    let vault = Vault::new(home.path(), VaultKeys::default());
    vault.set("a", &secret("the-value")).unwrap();
    let directory = home.path().join("secrets");
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o770)).unwrap();
    assert_eq!(vault.get("a").unwrap_err().code, Code::CredentialFileRefused);
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o700)).unwrap();
    let (path, moved) = (directory.join("vault.loom"), directory.join("moved"));
    std::fs::rename(&path, &moved).unwrap();
    std::os::unix::fs::symlink(&moved, &path).unwrap();
    assert_eq!(vault.get("a").unwrap_err().code, Code::CredentialFileRefused);
}
