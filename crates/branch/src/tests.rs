//! Real repositories: what looks leaves nothing, hooks do not run, and a git that hangs is ended.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use loom_domain::Code;
use loom_domain::integration::{Fields, Key, Kind, Tree};
use loom_secrets::Redactor;
use serde_json::json;

use super::*;

const BRANCH: &str = "loom/integration";

fn git(folder: &Path, words: &[&str]) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "user.name=Ann", "-c", "user.email=ann@localhost"]).args(words);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A repository with a file that somebody is working on.
fn room() -> (tempfile::TempDir, Repo) {
    let room = tempfile::tempdir().unwrap();
    git(room.path(), &["init", "-q", "-b", "main"]);
    std::fs::write(room.path().join("README.md"), "mine\n").unwrap();
    git(room.path(), &["add", "."]);
    git(room.path(), &["commit", "-q", "-m", "first"]);
    std::fs::write(room.path().join("README.md"), "mine, half done\n").unwrap();
    let repo = Repo::new(Git::new(room.path(), std::env::vars()), "loom");
    (room, repo)
}

fn tree(purpose: &str) -> Tree {
    let mut tree = Tree::default();
    let mut fields = Fields::new();
    fields.insert("purpose".into(), json!(purpose));
    fields.insert("ttlSeconds".into(), json!(86_400));
    tree.add(Key::new(Kind::Memberships, "mem_a").unwrap(), fields).unwrap();
    tree
}

fn objects(folder: &Path) -> String {
    git(folder, &["count-objects", "-v"])
}

/// CAP-131: equal configuration gives equal bytes, a commit only when something changed, and reads back the same.
#[tokio::test]
async fn cap_131_equal_configuration_gives_equal_bytes() {
    let (room, repo) = room();
    let redactor = Redactor::new();
    let files = write_files(&tree("questions"), &redactor).unwrap();
    assert_eq!(files, write_files(&tree("questions"), &redactor).unwrap());
    assert_eq!(files["memberships/mem_a.yaml"], "purpose: \"questions\"\nttlSeconds: 86400\n");
    let head = repo.commit_of("HEAD").await.unwrap();
    let first = repo.commit(BRANCH, head.as_deref(), &files, "one\n").await.unwrap().unwrap();
    assert_eq!(repo.commit(BRANCH, Some(&first), &files, "two\n").await.unwrap(), None);
    let stale = repo.commit(BRANCH, head.as_deref(), &Files::new(), "lost\n").await.unwrap_err();
    assert_eq!(
        (stale.code, repo.commit_of(BRANCH).await.unwrap()),
        (Code::VersionConflict, Some(first.clone()))
    );
    assert_eq!(read_files(&repo.files(&first).await.unwrap(), &redactor).unwrap(), tree("questions"));
    let mut fewer = write_files(&Tree::default(), &redactor).unwrap();
    fewer.remove("memberships/mem_a.yaml");
    let second = repo.commit(BRANCH, Some(&first), &fewer, "three\n").await.unwrap().unwrap();
    assert_eq!(repo.files(&second).await.unwrap(), fewer);
    assert_eq!(git(room.path(), &["show", &format!("{second}:README.md")]), "mine");
}

/// CAP-131: a secret, a path of this machine or an unknown file stops everything.
#[tokio::test]
async fn cap_131_secrets_and_paths_are_refused() {
    let redactor = Redactor::new();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let refused = write_files(&tree(&format!("use {token}")), &redactor).unwrap_err();
    assert!(!refused.to_string().contains(&token), "{refused}");
    assert_eq!(refused.detail["file"], "memberships/mem_a.yaml");
    assert!(write_files(&tree("see /home/ann/notes.txt"), &redactor).is_err());
    let files = |path: &str, text: &str| Files::from([(path.to_owned(), text.to_owned())]);
    for (path, text) in [
        ("memberships/mem_a.yaml", format!("purpose: {token}\n").as_str()),
        ("memberships/mem_a.yaml", "colour: red\n"),
        ("memberships/mem_a.yaml", "purpose: &a x\nrole: *a\n"),
        ("memberships/mem_a.yaml", "purpose: a\npurpose: b\n"),
        ("memberships/mem_a.yaml", "- a\n"),
        ("memberships/../x.yaml", "purpose: a\n"),
        ("programs/run.yaml", "purpose: a\n"),
        ("integration.yaml", "schema_version: loom.integration/v2\n"),
    ] {
        assert!(read_files(&files(path, text), &redactor).is_err(), "{path} {text}");
    }
}

/// CAP-133: what only looks leaves no object; hooks do not run; a dirty tree stays as it is.
#[tokio::test]
async fn cap_133_looking_leaves_nothing_and_hooks_do_not_run() {
    let (room, repo) = room();
    let hooks = room.path().join(".git/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    for hook in ["pre-commit", "post-commit", "reference-transaction", "post-index-change"] {
        let script = format!("#!/bin/sh\ntouch {}\n", room.path().join("hook-ran").display());
        std::fs::write(hooks.join(hook), script).unwrap();
        std::fs::set_permissions(hooks.join(hook), std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    let files = write_files(&tree("questions"), &Redactor::new()).unwrap();
    let head = repo.commit_of("HEAD").await.unwrap();
    let commit = repo.commit(BRANCH, head.as_deref(), &files, "one\n").await.unwrap().unwrap();
    let before = (objects(room.path()), git(room.path(), &["for-each-ref"]));
    repo.files(&commit).await.unwrap();
    repo.branch(BRANCH).await.unwrap();
    repo.commit_of("nothing-here").await.unwrap();
    assert!(!repo.is_checked_out(BRANCH).await.unwrap());
    assert_eq!(before, (objects(room.path()), git(room.path(), &["for-each-ref"])));
    assert!(!room.path().join("hook-ran").exists(), "a hook ran");
    assert_eq!(std::fs::read_to_string(room.path().join("README.md")).unwrap(), "mine, half done\n");
    assert_eq!(git(room.path(), &["status", "--porcelain"]), "M README.md");
    let lock = repo.lock().await.unwrap();
    assert_eq!(repo.lock().await.unwrap_err().code, Code::Locked);
    drop(lock);
    repo.lock().await.unwrap();
}

/// CAP-133: links, large files and revisions that are flags are refused, and no message names the place.
#[tokio::test]
async fn cap_133_links_and_large_files_are_refused() {
    let (room, repo) = room();
    std::fs::create_dir_all(room.path().join("loom/memberships")).unwrap();
    symlink("/etc/passwd", room.path().join("loom/memberships/mem_a.yaml")).unwrap();
    git(room.path(), &["add", "loom"]);
    git(room.path(), &["commit", "-q", "-m", "link"]);
    let refused = repo.files("HEAD").await.unwrap_err();
    assert_eq!(
        (refused.code, &refused.detail["file"]),
        (Code::InvalidInput, &json!("loom/memberships/mem_a.yaml"))
    );
    std::fs::remove_file(room.path().join("loom/memberships/mem_a.yaml")).unwrap();
    std::fs::write(room.path().join("loom/memberships/mem_a.yaml"), "#".repeat(300_000)).unwrap();
    git(room.path(), &["add", "loom"]);
    git(room.path(), &["commit", "-q", "-m", "large"]);
    assert!(repo.files("HEAD").await.unwrap_err().message.contains("256 KiB"));
    assert!(repo.commit_of("--output=x").await.is_err());
    let gone = Repo::new(Git::new(&room.path().join("gone"), std::env::vars()), "loom");
    let failed = gone.check().await.unwrap_err();
    assert_eq!(failed.code, Code::GitFailed);
    assert!(failed.hint.as_ref().unwrap().contains("--repo"), "{failed}");
    assert!(!failed.to_string().contains(&*room.path().to_string_lossy()), "{failed}");
}

/// CAP-133: a git that hangs is ended at the limit.
#[tokio::test]
async fn cap_133_a_hung_git_is_ended() {
    let room = tempfile::tempdir().unwrap();
    let program = room.path().join("git");
    std::fs::write(&program, "#!/bin/sh\nexec sleep 600\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    let git = Git::new(room.path(), std::env::vars()).with(&program, Duration::from_millis(200));
    let started = Instant::now();
    let failed = Repo::new(git, "loom").check().await.unwrap_err();
    assert_eq!(failed.code, Code::GitFailed);
    assert!(failed.message.contains("did not end within"), "{failed}");
    assert!(started.elapsed() < Duration::from_secs(30));
    assert_eq!(GIT_LIMIT, Duration::from_secs(60));
}

/// CAP-133: a git that never stops printing is cut off at the largest output.
#[tokio::test]
async fn cap_133_a_git_that_prints_without_end_is_ended() {
    let room = tempfile::tempdir().unwrap();
    let program = room.path().join("git");
    std::fs::write(&program, "#!/bin/sh\nexec cat /dev/zero\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    let git = Git::new(room.path(), std::env::vars()).with(&program, Duration::from_secs(30));
    let failed = Repo::new(git, "loom").check().await.unwrap_err();
    assert!(failed.message.contains("printed too much"), "{failed}");
}

/// A branch reaches its remote; one that went another way there is refused with what to do, and nothing changes.
#[tokio::test]
async fn a_branch_is_pushed_and_never_by_force() {
    let (room, repo) = room();
    let remote = tempfile::tempdir().unwrap();
    git(remote.path(), &["init", "-q", "--bare", "-b", "main"]);
    git(room.path(), &["remote", "add", "origin", &remote.path().to_string_lossy()]);
    let head = repo.commit_of("HEAD").await.unwrap();
    let files = |purpose: &str| write_files(&tree(purpose), &Redactor::new()).unwrap();
    let first = repo.commit(BRANCH, head.as_deref(), &files("one"), "one\n").await.unwrap().unwrap();
    repo.push("origin", BRANCH).await.unwrap();
    assert_eq!(git(remote.path(), &["rev-parse", BRANCH]), first);
    let second = repo.commit(BRANCH, Some(&first), &files("two"), "two\n").await.unwrap().unwrap();
    repo.push("origin", BRANCH).await.unwrap();
    git(room.path(), &["update-ref", &format!("refs/heads/{BRANCH}"), &first]);
    let other = repo.commit(BRANCH, Some(&first), &files("three"), "three\n").await.unwrap().unwrap();
    let before = git(room.path(), &["for-each-ref"]);
    let refused = repo.push("origin", BRANCH).await.unwrap_err();
    assert_eq!(refused.code, Code::GitFailed);
    assert!(refused.hint.as_deref().is_some_and(|hint| hint.contains("fetch")), "{refused:?}");
    assert!(!format!("{refused:?}").contains(&*remote.path().to_string_lossy()), "{refused:?}");
    assert_eq!(git(remote.path(), &["rev-parse", BRANCH]), second, "the remote keeps what it has");
    assert_eq!(
        (git(room.path(), &["for-each-ref"]), git(room.path(), &["rev-parse", BRANCH])),
        (before, other)
    );
}
