use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use loom_transport::MockBackend;
use serde_json::json;
use tokio::time::Instant;

use super::*;
use crate::{Catalog, Status, World};

/// A program that says what the script says, and leaves its arguments beside itself.
fn program(folder: &Path, name: &str, script: &str) {
    let file = folder.join(name);
    std::fs::write(&file, format!("#!/bin/sh\necho \"$@\" >> \"$0.ran\"\n{script}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn order(kind: HostKind, look: Look) -> HostOrder {
    HostOrder {
        kind,
        name: kind.id().to_owned(),
        command: None,
        connectors: vec!["github_public_probe".to_owned()],
        agent: None,
        intents: Vec::new(),
        look,
        shows_paths: false,
    }
}

async fn planned(order: HostOrder) -> HostModePlan {
    let backend = Arc::new(MockBackend::new());
    let plan = HostModePlan::make(&World::over(backend.clone()), &Catalog::builtin(), order).await.unwrap();
    assert!(backend.seen().is_empty());
    plan
}

fn path(folder: &Path) -> Look {
    Look::Path(format!("{}:/usr/bin:/bin", folder.display()))
}

/// CAP-002: the plan holds the whole entry of the catalog, and the documented members.
#[tokio::test]
async fn cap_002_the_plan_holds_the_full_entry() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), "opencode", "echo 1.18.33");
    let plan = json!(planned(order(HostKind::Opencode, path(folder.path()))).await);
    assert_eq!(plan["schema_version"], "loom.host_mode_plan/v1");
    assert_eq!(
        plan["host"],
        json!({"id": "opencode", "name": "opencode", "found": true, "version": "1.18.33", "version_status": "tested"})
    );
    assert_eq!((&plan["mode"], &plan["host_connector"]), (&json!("headless"), &json!("host_opencode")));
    let entry = &plan["connectors"][0]["connector"];
    assert_eq!(entry["schema_version"], "loom.catalog_entry/v1");
    assert_eq!(entry["operations"][0]["id"], "probe");
    assert_eq!(plan["connectors"][0]["granted"], true);
    assert_eq!(plan["readiness"], json!({"status": "ready", "reasons": []}));
    assert_eq!(
        plan["steps"],
        json!([{"n": 1, "kind": "run", "command": "loom turn run --host opencode --connector github_public_probe"}])
    );
    assert!(plan["plan_digest"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(plan["effects"]["requests_sent"], 0);
}

/// CAP-129: each host keeps its name and its connector in every mode, and one that is missing is not ready.
#[tokio::test]
async fn cap_129_every_host_keeps_its_name_and_connector() {
    let intents = [
        (Intent::WatchEachTurn, Mode::Visible),
        (Intent::ContinueWithoutUi, Mode::Headless),
        (Intent::IntakeFromChat, Mode::Gateway),
        (Intent::TimerKeepalive, Mode::Service),
        (Intent::EscalateBetweenModes, Mode::Handoff),
    ];
    let empty = tempfile::tempdir().unwrap();
    for kind in HostKind::ALL {
        for (intent, mode) in intents {
            let mut order = order(kind, Look::Path(empty.path().display().to_string()));
            order.intents = vec![intent];
            order.name = "pi".to_owned();
            let plan = planned(order).await;
            assert_eq!((plan.host.name.as_str(), plan.mode), ("pi", mode));
            assert_eq!(plan.host_connector, format!("host_{}", kind.id().replace('-', "_")));
            assert_ne!(plan.readiness.status, Status::Ready, "{kind:?}");
            assert_ne!(plan.host.found, Some(true));
        }
    }
    let missing = planned(order(HostKind::Codex, Look::Path(empty.path().display().to_string()))).await;
    assert_eq!((missing.host.found, missing.readiness.status), (Some(false), Status::MissingTool));
    assert_eq!(missing.steps[0].kind, StepKind::Install);
    assert_eq!(Mode::of(&[Intent::WatchEachTurn, Intent::TimerKeepalive]), Mode::Handoff);
}

/// CAP-129: a program that sleeps is cut at two seconds, and whatever it started with it.
#[tokio::test]
async fn cap_129_a_sleeping_program_is_cut_at_two_seconds() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), "opencode", "echo 1.18.33; sleep 60 & echo $! > \"$0.child\"; wait");
    let began = Instant::now();
    let plan = planned(order(HostKind::Opencode, path(folder.path()))).await;
    assert!(began.elapsed() >= Duration::from_secs(2) && began.elapsed() < Duration::from_secs(10));
    assert_eq!((plan.host.found, plan.host.version), (Some(true), None));
    assert_ne!(plan.readiness.status, Status::Ready);
    let child = std::fs::read_to_string(folder.path().join("opencode.child")).unwrap();
    // It was killed with its group; a busy machine takes a moment to let it go.
    let is_gone = || {
        let status = std::fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
        status.is_empty() || status.contains(") Z ")
    };
    while !is_gone() {
        assert!(began.elapsed() < Duration::from_secs(20), "{child} still runs");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// CAP-129: output beyond its limit is not waited for.
#[tokio::test]
async fn cap_129_endless_output_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), "codex", "echo codex-cli 0.170.2; yes");
    let plan = planned(order(HostKind::Codex, path(folder.path()))).await;
    assert_eq!(plan.host.version.as_deref(), Some("0.170.2"));
    assert_eq!(plan.readiness.status, Status::VersionTooOld);
}

/// CAP-130: nothing is started but `BINARY --version`; without detection nothing at all.
#[tokio::test]
async fn cap_130_only_the_version_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), "claude", "env > \"$0.env\"; echo '2.1.400 (Claude Code)'");
    let unseen = planned(order(HostKind::ClaudeCode, Look::No)).await;
    assert!(!folder.path().join("claude.ran").exists());
    assert_eq!((unseen.host.found, unseen.readiness.status), (None, Status::NotConfigured));
    let plan = planned(order(HostKind::ClaudeCode, path(folder.path()))).await;
    assert_eq!(plan.host.version_status, detect::VersionStatus::Newer);
    let ran = std::fs::read_to_string(folder.path().join("claude.ran")).unwrap();
    assert_eq!(ran, "--version\n");
    let env = std::fs::read_to_string(folder.path().join("claude.env")).unwrap();
    let own = ["PATH=", "HOME=/nonexistent", "LANG=", "LC_ALL=", "PWD=", "SHLVL=", "_=", "OLDPWD="];
    assert!(env.lines().all(|line| own.iter().any(|name| line.starts_with(name))), "{env}");
}

/// A program of the owner's own, and hosts without one.
#[tokio::test]
async fn a_command_of_the_owner_is_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), "pi", "echo pi 0.1");
    let mut own = order(HostKind::Generic, path(folder.path()));
    own.command = Some("pi".to_owned());
    own.shows_paths = true;
    let plan = planned(own).await;
    assert_eq!((plan.host.found, plan.readiness.status), (Some(true), Status::Ready));
    assert!(plan.host.path.unwrap().ends_with("/pi"));
    let without = planned(order(HostKind::Acp, path(folder.path()))).await;
    assert_eq!((without.host.found, without.readiness.status), (None, Status::NotConfigured));
}

/// An Agent needs grants; the step that gives one is named.
#[tokio::test]
async fn an_agent_needs_a_grant() {
    let mut wanted = order(HostKind::Opencode, Look::No);
    wanted.agent = Some("docs".to_owned());
    let plan = planned(wanted).await;
    assert!(!plan.connectors[0].granted && !plan.is_ready());
    let grant = plan.steps.iter().find(|step| step.kind == StepKind::Grant).unwrap();
    assert_eq!(grant.command, "loom capability grant docs github_public_probe --op probe");
}
