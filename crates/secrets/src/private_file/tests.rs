use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use super::*;

fn directory() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key");
    (directory, path)
}

fn make(path: &Path, bytes: &[u8], mode: u32) {
    std::fs::write(path, bytes).unwrap();
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn broken_rule(path: &Path) -> String {
    let error = read_private(path).unwrap_err();
    assert_eq!(error.code, Code::CredentialFileRefused);
    error.detail["rule"].as_str().unwrap().to_owned()
}

#[test]
fn msg_043_private_modes_pass_and_others_are_refused() {
    let (_directory, path) = directory();
    for mode in [0o600, 0o400] {
        make(&path, b"value", mode);
        assert_eq!(*read_private(&path).unwrap(), b"value");
        std::fs::remove_file(&path).unwrap();
    }
    for mode in [0o640, 0o700, 0o604, 0o4600] {
        make(&path, b"value", mode);
        assert_eq!(broken_rule(&path), "mode", "{mode:o}");
    }
}

#[test]
fn msg_043_sizes_links_and_kinds() {
    let (directory, path) = directory();
    make(&path, b"", 0o600);
    assert_eq!(broken_rule(&path), "empty");
    make(&path, &vec![b'x'; 65 * 1024], 0o600);
    assert_eq!(broken_rule(&path), "too_large");
    make(&path, b"value", 0o600);
    let link = directory.path().join("link");
    symlink(&path, &link).unwrap();
    assert_eq!(broken_rule(&link), "symlink");
    std::fs::hard_link(&path, directory.path().join("second")).unwrap();
    assert_eq!(broken_rule(&path), "links");
    let folder = directory.path().join("folder");
    std::fs::create_dir(&folder).unwrap();
    assert_eq!(broken_rule(&folder), "regular_file");
    let pipe = directory.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRUSR | nix::sys::stat::Mode::S_IWUSR).unwrap();
    assert_eq!(broken_rule(&pipe), "regular_file");
}

#[test]
fn msg_043_another_users_file_is_refused() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let (_directory, path) = directory();
    make(&path, b"value", 0o600);
    std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
    assert_eq!(broken_rule(&path), "owner");
}

#[test]
fn msg_044_the_bytes_come_from_the_checked_handle() {
    let (directory, path) = directory();
    make(&path, b"checked", 0o600);
    let opened = PrivateFile::open(&path, PRIVATE_FILE_BYTES_MAX).unwrap();
    let other = directory.path().join("other");
    make(&other, b"swapped", 0o600);
    std::fs::rename(&other, &path).unwrap();
    assert_eq!(*opened.read(&path).unwrap(), b"checked");
}

#[test]
fn atk_41_a_group_writable_directory_is_refused() {
    let (directory, path) = directory();
    make(&path, b"value", 0o600);
    std::fs::set_permissions(directory.path(), Permissions::from_mode(0o770)).unwrap();
    assert_eq!(broken_rule(&path), "parent_writable");
    assert_eq!(ensure_private_dir(directory.path()).unwrap_err().code, Code::CredentialFileRefused);
}

#[test]
fn atk_41_private_files_are_made_exclusively_with_mode_0600() {
    let (directory, path) = directory();
    create_private(&path, b"first").unwrap();
    let error = create_private(&path, b"second").unwrap_err();
    assert_eq!(error.detail["rule"], "exists");
    let victim = directory.path().join("victim");
    let link = directory.path().join("link");
    symlink(&victim, &link).unwrap();
    assert!(create_private(&link, b"through the link").is_err());
    assert!(!victim.exists());
    write_private(&path, b"replaced").unwrap();
    assert_eq!(*read_private(&path).unwrap(), b"replaced");
    let names: Vec<_> =
        std::fs::read_dir(directory.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn id_15_an_absent_file_is_unavailable() {
    let (_directory, path) = directory();
    assert_eq!(read_private(&path).unwrap_err().code, Code::CredentialUnavailable);
}
