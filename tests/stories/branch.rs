//! The configuration under git: a real repository, a real hub, and everything between them.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::harness::Scene;

/// A scene with a repository beside it that somebody works in.
struct Place {
    scene: Scene,
    repo: PathBuf,
}

impl Place {
    async fn new() -> Self {
        let scene = Scene::new().await;
        let repo = scene.world.work().join("config");
        std::fs::create_dir(&repo).unwrap();
        let place = Place { scene, repo };
        place.git(&["init", "-q", "-b", "main"]);
        std::fs::write(place.repo.join("README.md"), "mine\n").unwrap();
        place.git(&["add", "."]);
        place.git(&["commit", "-q", "-m", "first"]);
        std::fs::write(place.repo.join("README.md"), "half done\n").unwrap();
        place
    }

    fn git(&self, words: &[&str]) -> String {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.repo).args(["-c", "user.name=Ann", "-c", "user.email=ann@localhost"]);
        let output = command.args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    async fn run(&self, words: &[&str]) -> crate::harness::Output {
        let words: Vec<&str> =
            ["integration-branch"].iter().chain(words).copied().chain(["--json"]).collect();
        let output = self.scene.world.loom(&words).await;
        let room = self.scene.world.room().to_string_lossy().into_owned();
        // Where no hub answers, its socket is named, as everywhere.
        let names_socket = output.code == 7;
        assert!(names_socket || !output.stdout.contains(&room), "no absolute path in output: {output}");
        output
    }

    async fn ok(&self, words: &[&str]) -> Value {
        self.run(words).await.ok().json()
    }

    async fn init(&self) {
        let repo = self.repo.to_string_lossy().into_owned();
        let made = self.ok(&["init", "--repo", &repo]).await;
        assert_eq!(made["created"], true, "{made:#}");
    }

    /// The files of the branch.
    fn files(&self) -> BTreeMap<String, String> {
        let names = self.git(&["ls-tree", "-r", "--name-only", "loom/integration", "--", "loom"]);
        let text = |name: &str| self.git(&["show", &format!("loom/integration:{name}")]);
        names.lines().map(|name| (name.to_owned(), text(name))).collect()
    }

    /// Somebody edits a file of the branch in a working tree of their own, and commits.
    fn edit(&self, name: &str, change: impl FnOnce(String) -> Option<String>) {
        let tree = self.scene.world.work().join("edit");
        let folder = tree.to_string_lossy().into_owned();
        self.git(&["worktree", "add", "-q", &folder, "loom/integration"]);
        let path = tree.join(name);
        match change(std::fs::read_to_string(&path).unwrap_or_default()) {
            Some(text) => std::fs::write(&path, text).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        self.git_in(&tree, &["add", "-A"]);
        self.git_in(&tree, &["commit", "-q", "-m", "edit"]);
        self.git(&["worktree", "remove", "--force", &folder]);
    }

    fn git_in(&self, folder: &Path, words: &[&str]) {
        let folder = folder.to_string_lossy().into_owned();
        let words: Vec<&str> = ["-C", &folder].iter().chain(words).copied().collect();
        self.git(&words);
    }

    fn membership(&self) -> String {
        format!("loom/memberships/{}.yaml", self.scene.channel)
    }

    async fn purpose(&self) -> String {
        let got = self.scene.json(&["conversation", "get", &self.scene.channel]).await;
        got["purpose"].as_str().unwrap_or_default().to_owned()
    }
}

fn with(field: &str, value: &str) -> impl FnOnce(String) -> Option<String> {
    let (field, value) = (format!("{field}:"), value.to_owned());
    move |text| {
        let line = |line: &str| match line.starts_with(&field) {
            true => format!("{field} {value}\n"),
            false => format!("{line}\n"),
        };
        Some(text.lines().map(line).collect())
    }
}

/// CAP-131: a proposal reaches the remote; one that the remote refuses leaves nothing on either side.
#[tokio::test(flavor = "multi_thread")]
async fn cap_131_a_proposal_is_pushed_or_leaves_nothing() {
    let place = Place::new().await;
    let remote = place.scene.world.work().join("remote");
    let bare = remote.to_string_lossy().into_owned();
    place.git(&["init", "-q", "--bare", "-b", "main", &bare]);
    place.git(&["remote", "add", "origin", &bare]);
    let repo = place.repo.to_string_lossy().into_owned();
    place.ok(&["init", "--repo", &repo, "--remote", "origin"]).await;
    let set = ["conversation", "set", &place.scene.address, "C0GENERAL", "--purpose", "New", "--json"];
    place.scene.world.loom(&set).await.ok();
    let proposed = place.ok(&["propose", "--message", "New purpose", "--push"]).await;
    assert_eq!(proposed["pushed"], true, "{proposed:#}");
    let there = |name: &str| place.git(&["ls-remote", "origin", name]);
    let branch = proposed["branch"].as_str().unwrap();
    assert!(there(branch).starts_with(proposed["commit"].as_str().unwrap()));
    let hook = remote.join("hooks/pre-receive");
    std::fs::create_dir_all(remote.join("hooks")).unwrap();
    std::fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o700)).unwrap();
    let before = (place.git(&["for-each-ref"]), there("*"));
    let refused = place.run(&["propose", "--message", "Again", "--push"]).await;
    refused.fails("git_failed", 1);
    assert!(refused.json()["error"]["hint"].as_str().unwrap().contains("forced"), "{refused}");
    assert_eq!((place.git(&["for-each-ref"]), there("*")), before, "nothing changed on either side");
}

/// Stands in for ssh: notes its words and the key, and runs what the far side was to run.
const SSH: &str = "#!/bin/sh
echo \"$*\" >> ssh.words
cat \"$2\" > ssh.key
for last; do :; done
exec sh -c \"$last\"
";

/// CAP-088: a deploy key goes to git alone, for push and fetch, and is gone afterwards; it is no token.
#[tokio::test(flavor = "multi_thread")]
async fn cap_088_a_deploy_key_is_for_git_alone() {
    let place = Place::new().await;
    let (work, bare) = (place.scene.world.work(), place.scene.world.work().join("remote"));
    place.git(&["init", "-q", "--bare", "-b", "main", &bare.to_string_lossy()]);
    place.git(&["remote", "add", "origin", &format!("ssh://git@git.example{}", bare.display())]);
    std::fs::create_dir(work.join("bin")).unwrap();
    crate::harness::agent_script(
        &work.join("bin"),
        "ssh",
        &SSH.replace("ssh.", &format!("{}/ssh.", work.display())),
    );
    let key =
        "-----BEGIN OPENSSH PRIVATE KEY-----\ncanary-of-a-deploy-key\n-----END OPENSSH PRIVATE KEY-----";
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", work.join("bin").display());
    let held = serde_json::json!({"ssh_key": key}).to_string();
    let env = [("PATH", path.as_str()), ("DEPLOY", held.as_str()), ("SSH_AUTH_SOCK", "/nonexistent/agent")];
    let run = async |line: &str| {
        let words: Vec<&str> = line.split_whitespace().chain(["--json"]).collect();
        place.scene.world.loom_with(&words, b"", &env).await
    };
    let repo = place.repo.display();
    run(&format!("integration-branch init --repo {repo} --remote origin --credential-ref env:DEPLOY"))
        .await
        .ok();
    let set = ["conversation", "set", &place.scene.address, "C0GENERAL", "--purpose", "New", "--json"];
    place.scene.world.loom(&set).await.ok();
    let proposed = run("integration-branch propose --message New --push").await.ok().json();
    assert_eq!(proposed["pushed"], true, "{proposed:#}");
    let words = std::fs::read_to_string(work.join("ssh.words")).unwrap();
    assert!(words.contains("IdentitiesOnly=yes") && words.contains("git-receive-pack"), "{words}");
    assert_eq!(std::fs::read_to_string(work.join("ssh.key")).unwrap(), format!("{key}\n"));
    place.git(&["push", "-q", &bare.to_string_lossy(), "loom/integration"]);
    run("integration-branch status --fetch").await.ok();
    let words = std::fs::read_to_string(work.join("ssh.words")).unwrap();
    assert!(words.contains("git-upload-pack"), "{words}");
    let used = words.split_whitespace().nth(1).unwrap().trim_matches('\'');
    assert!(!Path::new(used).exists(), "the file of the key is gone");
    let asked =
        "capability run pr_review --repo owner/repo --api-url http://127.0.0.1:9 --credential-ref env:DEPLOY";
    let asked = run(asked).await;
    assert_eq!((asked.code, asked.json()["error"]["code"].as_str()), (1, Some("credential_unavailable")));
    assert_eq!(asked.json()["effects"]["requests_sent"], 0, "{asked}");
    let posted = run("http get http://127.0.0.1:9/ --credential-ref env:DEPLOY").await;
    posted.fails("credential_unavailable", 1);
    assert!(!place.scene.world.said().contains("canary-of-a-deploy-key"));
}

/// CAP-131, CAP-132: init, export, change, propose, dry run, apply, rollback; equal configuration is byte-equal.
#[tokio::test(flavor = "multi_thread")]
async fn cap_131_cap_132_the_whole_way_and_back() {
    let place = Place::new().await;
    place.init().await;
    let repo = place.repo.to_string_lossy().into_owned();
    assert_eq!(place.ok(&["init", "--repo", &repo]).await["created"], false, "it is idempotent");
    let first = place.files();
    assert!(
        first.contains_key(&place.membership()) && first.contains_key("loom/integration.yaml"),
        "{first:#?}"
    );
    assert_eq!(place.ok(&["status"]).await["state"], "in_sync");
    assert_eq!(
        place.ok(&["export", "--commit"]).await["commit"],
        Value::Null,
        "nothing changed makes no commit"
    );
    let set =
        ["conversation", "set", &place.scene.address, "C0GENERAL", "--purpose", "From the hub", "--json"];
    place.scene.world.loom(&set).await.ok();
    assert_eq!(place.ok(&["status"]).await["state"], "hub_ahead");
    let proposed = place.ok(&["propose", "--message", "New purpose"]).await;
    let branch = proposed["branch"].as_str().unwrap();
    assert!(place.git(&["show", &format!("{branch}:{}", place.membership())]).contains("From the hub"));
    assert_eq!(place.files(), first, "the branch itself stays");
    assert!(place.ok(&["export", "--commit"]).await["commit"].is_string());
    let exported = place.files();
    place.edit(&place.membership(), with("purpose", "\"From the branch\""));
    assert_eq!(place.ok(&["status"]).await["state"], "branch_ahead");
    let (objects, refs) = (place.git(&["count-objects", "-v"]), place.git(&["for-each-ref"]));
    let plan = place.ok(&["apply", "--dry-run"]).await;
    assert_eq!(plan["changes"][0]["fields"][0]["to"], "From the branch", "{plan:#}");
    assert_eq!(
        (objects, refs),
        (place.git(&["count-objects", "-v"]), place.git(&["for-each-ref"])),
        "CAP-133"
    );
    let applied = place.ok(&["apply"]).await;
    assert_eq!(applied["plan"]["plan_digest"], plan["plan_digest"]);
    assert_eq!(place.purpose().await, "From the branch");
    assert_eq!(place.ok(&["status"]).await["state"], "in_sync");
    let back = place.ok(&["rollback"]).await;
    assert_eq!(back["reverts"], applied["apply_id"], "{back:#}");
    assert_eq!(place.purpose().await, "From the hub");
    assert_eq!(place.ok(&["status"]).await["state"], "hub_ahead");
    place.ok(&["export", "--commit"]).await;
    assert_eq!(place.files(), exported, "rollback restores a byte-equal export");
    place.run(&["rollback"]).await.fails("not_found", 1);
    let again = applied["apply_id"].as_str().unwrap();
    assert_eq!(place.ok(&["rollback", "--to", again, "--dry-run"]).await["changes"], serde_json::json!([]));
    assert_eq!(std::fs::read_to_string(place.repo.join("README.md")).unwrap(), "half done\n", "CAP-133");
    assert_eq!(place.git(&["status", "--porcelain"]), "M README.md");
}

/// CAP-132: the same field changed on both sides exits 5 with both values, and nothing is applied.
#[tokio::test(flavor = "multi_thread")]
async fn cap_132_conflicts_exit_5_and_apply_nothing() {
    let place = Place::new().await;
    place.init().await;
    let (adr, mem) = (place.scene.address.clone(), place.membership());
    let set = ["conversation", "set", &adr, "C0GENERAL", "--purpose", "hub", "--role", "hub role", "--json"];
    place.scene.world.loom(&set).await.ok();
    place.edit(&mem, with("purpose", "\"branch\""));
    place.edit(&mem, with("guidance", "\"branch guidance\""));
    assert_eq!(place.ok(&["status"]).await["state"], "diverged");
    for words in [&["apply"][..], &["apply", "--dry-run"], &["export", "--commit"]] {
        let refused = place.run(words).await;
        refused.fails("version_conflict", 5);
        let conflicts = refused.json()["error"]["detail"]["conflicts"].clone();
        let told = [&conflicts[0]["base"], &conflicts[0]["hub"], &conflicts[0]["branch"]];
        assert_eq!(told, ["", "hub", "branch"], "{refused}");
        assert_eq!(conflicts.as_array().unwrap().len(), 1);
    }
    let got = place.scene.json(&["conversation", "get", &place.scene.channel]).await;
    assert_eq!((&got["purpose"], &got["guidance"]), (&"hub".into(), &"".into()), "nothing was applied");
    let resolve = format!("memberships/{}: {{purpose: branch}}\n", place.scene.channel);
    std::fs::write(place.scene.world.work().join("resolve.yaml"), resolve).unwrap();
    place.ok(&["apply", "--resolve", "resolve.yaml"]).await;
    let got = place.scene.json(&["conversation", "get", &place.scene.channel]).await;
    let told = [&got["purpose"], &got["guidance"], &got["role"]];
    assert_eq!(told, ["branch", "branch guidance", "hub role"], "{got:#}");
}

/// CAP-132: what widens access exits 3 without the digest of the plan; a removed file exits 3 without its flag.
#[tokio::test(flavor = "multi_thread")]
async fn cap_132_sensitive_changes_need_approval() {
    let place = Place::new().await;
    place.init().await;
    let mem = place.membership();
    place.edit(&mem, with("outboundPolicy", "\"proactive\""));
    let refused = place.run(&["apply"]).await;
    refused.fails("confirmation_required", 3);
    let digest = refused.json()["error"]["detail"]["plan_digest"].as_str().unwrap().to_owned();
    assert_eq!(place.ok(&["apply", "--dry-run"]).await["plan_digest"], digest.as_str());
    let other = format!("sha256:{}", "0".repeat(64));
    place.run(&["apply", "--approve", &other]).await.fails("plan_changed", 5);
    place.ok(&["apply", "--approve", &digest]).await;
    let got = place.scene.json(&["conversation", "get", &place.scene.channel]).await;
    assert_eq!(got["outboundPolicy"], "proactive");
    let back = place.ok(&["rollback"]).await;
    place.run(&["rollback"]).await.fails("not_found", 1);
    let undone = back["apply_id"].as_str().unwrap();
    let refused = place.run(&["rollback", "--to", undone]).await;
    refused.fails("confirmation_required", 3);
    let digest = refused.json()["error"]["detail"]["plan_digest"].as_str().unwrap().to_owned();
    place.ok(&["rollback", "--to", undone, "--approve", &digest]).await;
    place.edit(&mem, |_| None);
    place.run(&["apply"]).await.fails("confirmation_required", 3);
    place.ok(&["apply", "--allow-archive"]).await;
    let gone = place.scene.json(&["conversation", "get", &place.scene.channel]).await;
    assert!(gone["archivedAt"].is_string(), "{gone:#}");
    let plan = place.ok(&["rollback", "--dry-run"]).await;
    place.ok(&["rollback", "--approve", plan["plan_digest"].as_str().unwrap()]).await;
    let back = place.scene.json(&["conversation", "get", &place.scene.channel]).await;
    assert_eq!((&back["archivedAt"], &back["enabled"]), (&Value::Null, &true.into()), "{back:#}");
    let new = "loom/memberships/docs.yaml";
    let fields = format!(
        "address: {:?}\nconversationId: C0DOCS\nconversationType: channel\npurpose: Docs\n",
        place.scene.address
    );
    place.edit(new, |_| Some(fields));
    let plan = place.ok(&["apply", "--dry-run"]).await;
    assert_eq!(
        (&plan["changes"][0]["action"], &plan["sensitive"]),
        (&"create".into(), &false.into()),
        "{plan:#}"
    );
    place.ok(&["apply"]).await;
    let list = place.scene.json(&["conversation", "list"]).await;
    let made = list["items"].as_array().unwrap().iter().find(|m| m["conversationId"] == "C0DOCS").cloned();
    assert_eq!(made.unwrap()["enabled"], false, "a new object is off unless its file says otherwise");
    let again = place.ok(&["apply", "--dry-run"]).await;
    assert_eq!(again["changes"].as_array().unwrap().len(), 0, "{again:#}");
}

/// CAP-131: secrets in the tree, unknown fields and links are refused, and nothing is applied or written.
#[tokio::test(flavor = "multi_thread")]
async fn cap_131_secrets_in_the_tree_are_refused() {
    let place = Place::new().await;
    place.init().await;
    let mem = place.membership();
    let before = place.purpose().await;
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    place.edit(&mem, with("purpose", &format!("\"use {token}\"")));
    let refused = place.run(&["apply"]).await;
    assert_ne!(refused.code, 0, "{refused}");
    assert!(!refused.to_string().contains(&token), "{refused}");
    place.edit(&mem, with("purpose", "\"fine\"\ncolour: red"));
    place.run(&["apply"]).await.fails("unknown_field", 2);
    assert_eq!(place.purpose().await, before);
}

/// CAP-132: a hub that dies in the middle of an apply has applied nothing; the same apply then works.
#[tokio::test(flavor = "multi_thread")]
async fn cap_132_nothing_is_half_applied_after_a_kill() {
    let mut place = Place::new().await;
    place.init().await;
    let mem = place.membership();
    place.edit(&mem, with("purpose", "\"one\""));
    let address = format!("loom/addresses/{}.yaml", place.scene.address);
    place.edit(&address, with("displayName", "\"Another name\""));
    for (point, applied) in
        [("integration.apply.before_commit", false), ("integration.apply.after_commit", true)]
    {
        assert_eq!(place.scene.world.terminate().await, 0);
        place.scene.world.up_with(&[("LOOM_FAILPOINTS", &format!("{point}=kill"))]).await;
        let died = place.run(&["apply"]).await;
        assert_ne!(died.code, 0, "{point}: {died}");
        place.scene.world.kill().await;
        place.scene.world.up().await;
        let adr = place.scene.json(&["integration", "status", &place.scene.connection]).await;
        let name = adr["addresses"][0]["displayName"].clone();
        let whole = (place.purpose().await == "one", name == "Another name");
        assert_eq!(whole, (applied, applied), "{point}");
    }
    let again = place.ok(&["apply", "--dry-run"]).await;
    assert_eq!(
        again["changes"].as_array().unwrap().len(),
        0,
        "what was applied is not applied twice: {again:#}"
    );
    place.ok(&["apply"]).await;
    assert_eq!(place.purpose().await, "one");
    assert_eq!(place.ok(&["status"]).await["state"], "in_sync");
    place.scene.world.line("audit verify").await.ok();
}

/// CAP-006: without a hub and without a binding the bare command tells that, and writes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn cap_006_the_bare_branch_needs_no_hub() {
    let world = crate::harness::World::new(crate::harness::Setup::default()).await;
    let before = std::fs::read_dir(world.home()).unwrap().count();
    let told = world.line("integration-branch --json").await.ok().json();
    assert_eq!((&told["state"], &told["hub"]), (&"uninitialised".into(), &"not_running".into()));
    assert_eq!(std::fs::read_dir(world.home()).unwrap().count(), before);
    world.line("integration-branch apply --json").await.fails("not_ready", 1);
}
