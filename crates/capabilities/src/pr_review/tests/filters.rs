//! Filters select what the twin's own facts say.

use loom_twins::github::{Details as Facts, Pull as Fact, PullState};

use super::*;

/// Whether a pull request is expected.
type Test<'a> = Box<dyn Fn(&Fact, &Facts) -> bool + 'a>;

const SPEAK: [&str; 3] = ["OWNER", "MEMBER", "COLLABORATOR"];

fn association(actor: &loom_twins::github::Actor) -> String {
    serde_json::to_value(actor.association).unwrap().as_str().unwrap().to_owned()
}

/// The decision, worked out from the twin's facts another way: newest first, per reviewer.
fn decision(pull: &Fact, facts: &Facts) -> &'static str {
    let mut seen = std::collections::BTreeMap::new();
    for review in facts.reviews.iter().rev() {
        let Some(author) = &review.author else { continue };
        if review.state != "COMMENTED" && review.state != "PENDING" {
            seen.entry(author.login.clone()).or_insert((review.state.clone(), association(author)));
        }
    }
    let has = |word: &str| seen.values().any(|(state, who)| state == word && SPEAK.contains(&who.as_str()));
    match () {
        () if has("CHANGES_REQUESTED") => "changes_requested",
        () if has("APPROVED") => "approved",
        () if !pull.requested_reviewers.is_empty() => "required",
        () => "none",
    }
}

fn checks(facts: &Facts) -> &'static str {
    let newest = facts.checks.iter().filter(|one| {
        !facts.checks.iter().any(|other| other.name == one.name && other.app == one.app && other.id > one.id)
    });
    let statuses = facts
        .statuses
        .iter()
        .filter(|one| !facts.statuses.iter().any(|other| other.context == one.context && other.id > one.id));
    let words: Vec<String> = newest
        .map(|run| run.conclusion.clone().unwrap_or_else(|| "pending".into()))
        .chain(statuses.map(|status| status.state.clone()))
        .collect();
    let any = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    match () {
        () if any(&["failure", "timed_out", "cancelled", "action_required", "startup_failure", "error"]) => {
            "failing"
        }
        () if any(&["pending", "stale"]) => "pending",
        () if words.is_empty() => "none",
        () => "passing",
    }
}

/// CAP-080: each filter selects exactly the numbers that the facts say, also combined and negated.
#[tokio::test]
async fn cap_080_filters_select_exactly_what_fits() {
    let scene = scene(builder(40, 25)).await;
    scene.settle();
    let facts: Vec<(Fact, Facts)> =
        scene.twin.pulls(REPO).iter().filter_map(|pull| scene.twin.pull(REPO, pull.number)).collect();
    let since = facts[30].0.created_secs;
    let since_text = facts[30].0.created_at();
    let open = |pull: &Fact| pull.state == PullState::Open;
    let label = |pull: &Fact, name: &str| pull.labels.iter().any(|label| label == name);
    let cases: Vec<(String, Test<'_>)> = vec![
        (String::new(), Box::new(move |p, _| open(p))),
        ("open".into(), Box::new(move |p, _| open(p))),
        ("closed".into(), Box::new(|p, _| p.state == PullState::Closed)),
        ("merged".into(), Box::new(|p, _| p.state == PullState::Merged)),
        ("all".into(), Box::new(|_, _| true)),
        ("-open".into(), Box::new(move |p, _| !open(p))),
        ("draft".into(), Box::new(move |p, _| open(p) && p.draft)),
        ("ready".into(), Box::new(move |p, _| open(p) && !p.draft)),
        ("all author:ana".into(), Box::new(|p, _| p.author.login == "ana")),
        (
            "all author:ANA author:ben".into(),
            Box::new(|p, _| ["ana", "ben"].contains(&p.author.login.as_str())),
        ),
        (
            "label:bug,-label:docs".into(),
            Box::new(move |p, _| open(p) && label(p, "bug") && !label(p, "docs")),
        ),
        ("all label:\"good first issue\"".into(), Box::new(move |p, _| label(p, "good first issue"))),
        ("base:release".into(), Box::new(move |p, _| open(p) && p.base == "release")),
        ("all -base:main".into(), Box::new(|p, _| p.base != "main")),
        (format!("all since:{since_text}"), Box::new(move |p, _| p.created_secs >= since)),
        ("number:7 number:9 all".into(), Box::new(|p, _| [7, 9].contains(&p.number))),
        ("review:approved".into(), Box::new(move |p, f| open(p) && decision(p, f) == "approved")),
        (
            "review:changes_requested".into(),
            Box::new(move |p, f| open(p) && decision(p, f) == "changes_requested"),
        ),
        (
            "review:required review:none".into(),
            Box::new(move |p, f| open(p) && ["required", "none"].contains(&decision(p, f))),
        ),
        ("-review:approved".into(), Box::new(move |p, f| open(p) && decision(p, f) != "approved")),
        ("checks:failing".into(), Box::new(move |p, f| open(p) && checks(f) == "failing")),
        ("checks:pending".into(), Box::new(move |p, f| open(p) && checks(f) == "pending")),
        ("checks:none".into(), Box::new(move |p, f| open(p) && checks(f) == "none")),
        (
            "ready checks:passing review:approved".into(),
            Box::new(move |p, f| {
                open(p) && !p.draft && checks(f) == "passing" && decision(p, f) == "approved"
            }),
        ),
        ("mergeable:no".into(), Box::new(move |p, _| open(p) && p.mergeable == Some(false))),
    ];
    let mut empty = 0;
    for (filter, test) in cases {
        let expected: Vec<u64> = facts.iter().filter(|(p, f)| test(p, f)).map(|(p, _)| p.number).collect();
        let payload = scene.scan(json!({"filter": filter, "detail": "list"})).await;
        assert!(payload.complete, "{filter}: {:?}", payload.error);
        assert_eq!(numbers(&payload), expected, "{filter}");
        empty += usize::from(expected.is_empty());
    }
    assert!(empty <= 3, "the filters have something to find");
}

#[tokio::test]
async fn a_filter_reads_only_what_it_needs() {
    let scene = scene(builder(20, 0)).await;
    scene.settle();
    let payload = scene.scan(json!({"filter": "checks:failing", "detail": "list"})).await;
    assert_eq!(payload.effects.requests_sent, 1 + 20 * 2);
    assert!(
        payload.items.iter().all(|item| item["checks"]["state"] == "failing" && item["reviews"].is_null())
    );
    let request = RunRequest { input: input(&json!({"filter": "opened"})), ..RunRequest::default() };
    let error = crate::run(&scene.world, &PrReview::new(), request, None, &mut NoObserver).await.unwrap_err();
    assert_eq!(error.code, Code::Usage);
}
