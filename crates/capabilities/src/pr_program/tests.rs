//! Programs against the twin.

use std::sync::Arc;
use std::time::Duration;

use loom_twins::github::{Actor, CheckRun, GithubTwin, PullState, Repo, Review};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{Flow, NoObserver, Observer, Payload, RunSettings, World};

const TOKEN: &str = "ghp_twin_0000000000000000000000000000";
const CORE: &str = "acme/core";
const WEB: &str = "acme/web";
const DOCS: &str = "acme/docs";

struct Scene {
    twin: GithubTwin,
    world: World,
    _home: tempfile::TempDir,
}

async fn scene() -> Scene {
    let builder = GithubTwin::builder().seed(7).token(TOKEN, "ana").quota(1_000_000);
    let builder = [CORE, WEB, DOCS]
        .iter()
        .fold(builder, |builder, name| builder.repo(Repo::new(name).open_pulls(4).closed_pulls(0)));
    let twin = builder.start().await.unwrap();
    let home = tempfile::tempdir().unwrap();
    let mut world = World::of_process();
    world.key = Arc::new(|| Ok([7; 32]));
    world.home = Some(home.path().join("home"));
    let find = |name: &str| (name == "GH_ENTERPRISE_TOKEN").then(|| TOKEN.to_owned());
    let resolver = loom_secrets::Resolver::new(world.redactor.clone(), Arc::new(find));
    let world = world.with_credentials(resolver, find);
    Scene { twin, world, _home: home }
}

impl Scene {
    /// Makes a pull request ready in every regard.
    fn make(&self, repo: &str, number: u64, checks: &str, approved: bool) {
        self.twin.edit(repo, number, |pull, details| {
            pull.draft = false;
            pull.mergeable = Some(true);
            pull.merge_state = "clean".to_owned();
            pull.requested_reviewers.clear();
            let (status, conclusion) = match checks {
                "pending" => ("in_progress", None),
                word => ("completed", Some(if word == "passing" { "success" } else { "failure" }.to_owned())),
            };
            details.statuses.clear();
            details.checks.truncate(1);
            if details.checks.is_empty() {
                let (name, app) = ("unit".to_owned(), "ci".to_owned());
                let (status, conclusion) = (status.to_owned(), None);
                details.checks.push(CheckRun {
                    id: 1,
                    name,
                    app,
                    status,
                    conclusion,
                    started_secs: 1_767_225_600,
                });
            }
            for run in &mut details.checks {
                (run.status, run.conclusion) = (status.to_owned(), conclusion.clone());
            }
            details.reviews.clear();
            if approved {
                details.reviews.push(Review::new(1, Actor::member("ana"), "APPROVED", &pull.head_oid));
            }
        });
    }

    fn request(&self, input: Value) -> RunRequest {
        let settings = RunSettings { api_url: Some(self.twin.base_url()), ..RunSettings::default() };
        RunRequest { operation: "observe".to_owned(), input, settings, ..RunRequest::default() }
    }

    async fn run(&self, input: Value) -> Payload {
        crate::run(&self.world, &PrProgram::new(), self.request(input), None, &mut NoObserver).await.unwrap()
    }

    fn refused(&self, program: &str) -> Error {
        let request = self.request(json!({"program": program}));
        crate::plan(&self.world, &PrProgram::new(), request).unwrap_err()
    }
}

const HEAD: &str = "schema_version: loom.pr_program/v1\nid: q3_release\n";

fn program() -> String {
    format!(
        "{HEAD}prs:
  - {{ref: acme/core#1, priority: P0, requirements: [R1]}}
  - {{ref: acme/web#1, depends_on: [\"acme/core#1\"], require: {{checks: passing, review: any}}}}
select:
  - {{repo: acme/docs, filter: \"open number:2\", depends_on: [\"acme/web#1\"], limit: 5}}
requirements: [{{id: R1, title: Parser accepts v2, priority: P0}}]
"
    )
}

fn states(payload: &Payload) -> Vec<(String, String)> {
    let word = |item: &Value, name: &str| item[name].as_str().unwrap_or_default().to_owned();
    payload.items.iter().map(|item| (word(item, "ref"), word(item, "state"))).collect()
}

/// CAP-094: dependencies hold back, requirements are covered, and each state has its meaning.
#[tokio::test]
async fn cap_094_dependencies_hold_back_and_states_have_their_meaning() {
    let scene = scene().await;
    scene.make(CORE, 1, "pending", true);
    scene.make(WEB, 1, "passing", false);
    scene.make(DOCS, 2, "passing", true);
    let input = json!({"program": program()});
    let first = scene.run(input.clone()).await;
    assert!(first.ok && first.complete, "{:?}", first.error);
    let expected = [
        ("acme/core#1", "waiting_checks"),
        ("acme/web#1", "waiting_dependency"),
        ("acme/docs#2", "waiting_dependency"),
    ];
    assert_eq!(states(&first), expected.map(|(name, state)| (name.to_owned(), state.to_owned())));
    assert_eq!(first.items[1]["reasons"], json!(["acme/core#1 waiting_checks"]));
    let fields = &first.fields;
    assert_eq!(
        (fields["state"].as_str(), fields["requirements"][0]["coverage"].as_str()),
        (Some("in_progress"), Some("partial"))
    );
    assert_eq!((first.verdict, fields["counts"]["total"].as_u64()), (Verdict::Met, Some(3)));
    scene.make(CORE, 1, "passing", false);
    let second = scene.run(input.clone()).await;
    assert_eq!(
        (second.fields["state"].as_str(), second.verdict),
        (Some("needs_human"), Verdict::NeedsDecision)
    );
    assert_eq!(second.fields["delta"]["changed"], json!(["acme/core#1"]));
    scene.make(CORE, 1, "passing", true);
    let third = scene.run(input.clone()).await;
    assert_eq!((third.fields["state"].as_str(), third.verdict), (Some("satisfied"), Verdict::Met));
    assert_eq!(third.fields["requirements"][0]["coverage"], "complete");
    scene.twin.edit(CORE, 1, |pull, _| pull.state = PullState::Closed);
    let fourth = scene.run(input).await;
    assert_eq!((fourth.fields["state"].as_str(), fourth.verdict), (Some("failed"), Verdict::Failed));
    let missing = scene.run(json!({"pr": ["acme/core#999"]})).await;
    assert_eq!(
        (states(&missing)[0].1.as_str(), missing.fields["state"].as_str()),
        ("unknown", Some("unknown"))
    );
}

/// CAP-094: a cycle, a doubled name and an unknown requirement are refused by name, before anything is read.
#[tokio::test]
async fn cap_094_programs_that_cannot_end_are_refused() {
    let scene = scene().await;
    let cycle = "prs:\n  - {ref: a/b#1, depends_on: [\"a/b#2\"]}\n  - {ref: a/b#2, depends_on: [\"a/b#3\"]}\n  - {ref: a/b#3, depends_on: [\"a/b#2\"]}\n";
    let error = scene.refused(&format!("{HEAD}{cycle}"));
    assert_eq!(error.detail["cycle"], json!(["a/b#2", "a/b#3", "a/b#2"]));
    for (body, named) in [
        ("prs: [{ref: a/b#1}, {ref: A/B#1}]", "A/B#1"),
        ("prs: [{ref: a/b#1, requirements: [R9]}]", "R9"),
        ("prs: [{ref: a/b#1, depends_on: [\"a/b#7\"]}]", "a/b#7"),
        ("prs: [{ref: a/b}]", "a/b"),
        ("prs: [{ref: a/b#1, require: {checks: failing}}]", "program"),
        ("select: [{repo: a/b, filter: \"colour:red\"}]", "colour"),
        ("prs: [{ref: a/b#1, priority: urgent}]", "P0"),
    ] {
        let error = scene.refused(&format!("{HEAD}{body}\n"));
        assert!(error.message.contains(named), "{body}: {error}");
    }
    assert_eq!(scene.twin.request_count(), 0);
}

/// Changes the twin after so many events.
struct Script<'a> {
    seen: Vec<String>,
    act: Box<dyn FnMut(usize) + Send + 'a>,
}

impl Observer for Script<'_> {
    fn item(&mut self, item: &Value) -> Flow {
        self.seen.push(format!(
            "{} {}",
            item["event"].as_str().unwrap_or("-"),
            item["ref"].as_str().unwrap_or("-")
        ));
        (self.act)(self.seen.len());
        Flow::Continue
    }
}

/// CAP-094, CAP-095: a watch tells each fact once, also after it was stopped, and ends with the program.
#[tokio::test(start_paused = true)]
async fn cap_095_a_watch_tells_each_fact_once_also_after_a_restart() {
    let scene = scene().await;
    scene.make(CORE, 1, "pending", true);
    let input = json!({"pr": ["acme/core#1"], "watch": true, "interval": "10s"});
    let cancel = CancellationToken::new();
    let mut world = scene.world.clone();
    world.cancel = cancel.clone();
    let mut script = Script { seen: vec![], act: Box::new(move |_| ()) };
    let stop = async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        cancel.cancel();
    };
    let program = PrProgram::new();
    let first = crate::run(&world, &program, scene.request(input.clone()), None, &mut script);
    let (first, ()) = tokio::join!(first, stop);
    let first = first.unwrap();
    assert_eq!(script.seen, ["program_started -", "pr_added acme/core#1"]);
    let cursor = first.cursor.unwrap();
    scene.twin.edit(CORE, 1, |pull, _| pull.title = "Another title".to_owned());
    scene.make(CORE, 1, "passing", true);
    let mut script = Script { seen: vec![], act: Box::new(|_| ()) };
    let second = crate::run(&scene.world, &program, scene.request(input.clone()), Some(&cursor), &mut script)
        .await
        .unwrap();
    assert_eq!(script.seen, ["pr_changed acme/core#1", "pr_satisfied acme/core#1", "program_satisfied -"]);
    assert_eq!((second.ok, second.items[0]["fields"].clone()), (true, json!(["state", "checks"])));
    let stale = crate::run(&scene.world, &program, scene.request(input), Some(&cursor), &mut NoObserver)
        .await
        .unwrap();
    assert_eq!(stale.error.unwrap().detail["pointer"], "/cursor");
}

/// CAP-095: what a reader did not take is told to the next one.
#[tokio::test(start_paused = true)]
async fn cap_095_what_nobody_took_is_told_later() {
    let scene = scene().await;
    scene.make(CORE, 1, "pending", true);
    scene.make(WEB, 1, "passing", true);
    let input = json!({"pr": ["acme/core#1", "acme/web#1"], "watch": true, "interval": "10s"});
    let mut request = scene.request(input);
    request.limits.limit = Some(2);
    let (program, mut cursor, mut seen) = (PrProgram::new(), None, Vec::new());
    for _ in 0..4 {
        let mut script = Script { seen: vec![], act: Box::new(|_| ()) };
        let run = crate::run(&scene.world, &program, request.clone(), cursor.as_deref(), &mut script);
        cursor = run.await.unwrap().cursor;
        seen.append(&mut script.seen);
        scene.make(CORE, 1, "passing", true);
    }
    let times = |event: &str| seen.iter().filter(|one| *one == event).count();
    for event in ["program_started -", "pr_added acme/core#1", "pr_added acme/web#1", "program_satisfied -"] {
        assert_eq!(times(event), 1, "{event}: {seen:?}");
    }
    assert!(times("pr_satisfied acme/web#1") == 1 && times("pr_changed acme/core#1") == 1, "{seen:?}");
}

/// CAP-094: a watch that is not done in time is a failure of its own kind.
#[tokio::test(start_paused = true)]
async fn cap_094_a_watch_ends_at_its_deadline() {
    let scene = scene().await;
    scene.make(CORE, 1, "pending", true);
    let input = json!({"pr": ["acme/core#1"], "watch": true, "interval": "10s", "deadline": "1m"});
    let late = scene.run(input).await;
    assert_eq!(late.error.unwrap().code, loom_domain::Code::DeadlineExceeded);
    assert_eq!(late.items.last().unwrap()["event"], "deadline");
    let early = scene.request(json!({"pr": ["acme/core#1"], "interval": "5s"}));
    assert_eq!(
        crate::plan(&scene.world, &PrProgram::new(), early).unwrap_err().code,
        loom_domain::Code::Usage
    );
}

/// CAP-095: what is absent counts as removed only when the whole selection was seen.
#[tokio::test]
async fn cap_095_only_a_complete_look_removes() {
    let scene = scene().await;
    let text = format!("{HEAD}select: [{{repo: acme/docs, filter: open}}]\n");
    let input = json!({"program": text});
    assert_eq!(scene.run(input.clone()).await.fields["delta"]["added"].as_array().unwrap().len(), 4);
    scene.twin.edit(DOCS, 3, |pull, _| pull.state = PullState::Closed);
    let second = scene.run(input).await;
    assert_eq!(second.fields["delta"]["removed"], json!(["acme/docs#3"]));
}
