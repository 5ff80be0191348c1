use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::multi_agent::file::tests::example;

struct Story {
    file: MultiAgentFile,
    rows: Vec<Row>,
    now: i64,
}

impl Story {
    fn new(change: impl FnOnce(&mut Value)) -> Self {
        let mut document = example();
        change(&mut document);
        let file = MultiAgentFile::of(&document).unwrap();
        let mut story = Story { file: file.clone(), rows: Vec::new(), now: 0 };
        let (run_id, agents) = ("op_1".to_owned(), BTreeMap::new());
        story.add(RunEvent::Started { run_id, file: Box::new(file), agents });
        story
    }

    fn add(&mut self, body: RunEvent) {
        let (seq, at) = (self.rows.len() as u64, Timestamp(self.now));
        self.rows.push(Row { seq, at, fence: 1, body, prev: String::new(), digest: String::new() });
    }

    fn next(&self, running: &[&str]) -> Next {
        Progress::of(&self.file, &self.rows).next(&self.file, running, Timestamp(self.now))
    }

    /// Begins what is next, and gives the lanes of it.
    fn begin(&mut self) -> Vec<LaneRound> {
        let Next::Begin { open, fresh } = self.next(&[]) else { panic!("{:?}", self.next(&[])) };
        assert!(open.is_empty());
        for of in &fresh {
            self.add(RunEvent::LaneStarted { of: of.clone(), seen: 0 });
        }
        fresh
    }

    fn end(&mut self, of: &LaneRound, end: LaneEnd, report: Value) {
        let report = serde_json::from_value(report).unwrap();
        let (turn_id, tokens, error) = (None, Some(10), None);
        self.add(RunEvent::LaneDone { of: of.clone(), end, turn_id, report, tokens, error });
    }

    fn round(&mut self, text: &str) {
        for of in self.begin() {
            self.end(&of, LaneEnd::Done, json!({"summary": text}));
        }
    }
}

fn names(rounds: &[LaneRound]) -> Vec<(&str, u32, u32)> {
    rounds.iter().map(|of| (of.lane.as_str(), of.round, of.attempt)).collect()
}

/// CAP-136: lanes go from round to round together, and a lane that is done ends the loop.
#[test]
fn cap_136_a_loop_runs_to_lane_done() {
    let mut story = Story::new(|_| {});
    let first = story.begin();
    assert_eq!(names(&first), [("scout", 1, 0), ("reviewer", 1, 0)]);
    story.end(&first[0], LaneEnd::Done, json!({"summary": "a"}));
    assert_eq!(story.next(&["reviewer"]), Next::Wait(None), "the barrier");
    story.end(&first[1], LaneEnd::Done, json!({"summary": "b"}));
    let second = story.begin();
    assert_eq!(names(&second), [("scout", 2, 0), ("reviewer", 2, 0)]);
    story.end(&second[1], LaneEnd::Done, json!({"summary": "c", "done": true}));
    assert_eq!(story.next(&["scout"]), Next::Stop(StopReason::LaneDone, Some("reviewer".to_owned())));
}

/// CAP-136: rounds, idle rounds and budgets stop a loop; a Turn over the budget does not begin.
#[test]
fn cap_136_rounds_idle_and_budgets_stop_it() {
    let mut story = Story::new(|file| file["lanes"][1]["budget"] = json!({}));
    story.round("one");
    story.round("two");
    story.round("three");
    assert_eq!(story.next(&[]), Next::Stop(StopReason::RoundsMax, None));
    let mut idle = Story::new(|_| {});
    idle.round("same");
    idle.round("same");
    assert_eq!(idle.next(&[]), Next::Stop(StopReason::Idle, None));
    let mut turns = Story::new(|file| file["budget"]["turns"] = json!(3));
    turns.round("one");
    let last = turns.begin();
    assert_eq!(names(&last), [("scout", 2, 0)], "the fourth Turn does not begin");
    turns.end(&last[0], LaneEnd::Done, json!({"summary": "two"}));
    assert_eq!(turns.next(&[]), Next::Stop(StopReason::Budget, Some("turns".to_owned())));
    let mut tokens = Story::new(|file| file["budget"]["tokens"] = json!(15));
    tokens.round("one");
    assert_eq!(tokens.next(&[]), Next::Stop(StopReason::Budget, Some("tokens".to_owned())));
    let mut wall = Story::new(|file| file["budget"]["wall"] = json!("1h"));
    wall.round("one");
    wall.now = 3_600_000;
    assert_eq!(wall.next(&[]), Next::Stop(StopReason::Budget, Some("wall".to_owned())));
}

/// The budget of one lane ends that lane; the others go on to the end.
#[test]
fn cap_136_a_lane_ends_with_its_own_budget() {
    let mut story = Story::new(|_| {});
    story.round("one");
    story.round("two");
    let third = story.begin();
    assert_eq!(names(&third), [("scout", 3, 0)]);
    story.end(&third[0], LaneEnd::Done, json!({"summary": "three"}));
    assert_eq!(story.next(&[]), Next::Stop(StopReason::Budget, Some("lane reviewer".to_owned())));
}

/// CAP-136: a lane-round that was open is taken up, not begun again, and no finished one either.
#[test]
fn cap_136_what_was_open_is_taken_up() {
    let mut story = Story::new(|file| file["budget"]["turns"] = json!(2));
    let first = story.begin();
    story.end(&first[0], LaneEnd::Done, json!({"summary": "a"}));
    assert_eq!(story.next(&[]), Next::Begin { open: vec![first[1].clone()], fresh: Vec::new() });
}

/// A lane that fails is started again after a wait, as often as it may be; one whose fate is unknown never is.
#[test]
fn cap_136_a_lane_restarts_and_fails_in_the_end() {
    let mut story = Story::new(|file| file["lanes"][1]["budget"] = json!({}));
    let first = story.begin();
    story.end(&first[0], LaneEnd::Failed, json!({}));
    story.end(&first[1], LaneEnd::Lost, json!({}));
    assert_eq!(story.next(&[]), Next::Wait(Some(Timestamp(1_000))));
    story.now = 1_000;
    let again = story.begin();
    assert_eq!(names(&again), [("scout", 1, 1)]);
    story.end(&again[0], LaneEnd::Failed, json!({}));
    assert_eq!(story.next(&[]), Next::Stop(StopReason::Failures, None), "three failures");
    let mut free = Story::new(|file| {
        file["rounds"]["mode"] = json!("free");
        file["stop"] = json!({});
    });
    let first = free.begin();
    free.end(&first[1], LaneEnd::Done, json!({"summary": "x"}));
    let next = free.next(&["scout"]);
    assert!(matches!(next, Next::Begin { fresh, .. } if names(&fresh) == [("reviewer", 2, 0)]));
}

/// A stop that was asked for comes before everything else; a resume takes it back.
#[test]
fn cap_136_a_stop_is_taken_back_by_a_resume() {
    let mut story = Story::new(|_| {});
    story.add(RunEvent::StopAsked { grace_ms: 1 });
    assert_eq!(story.next(&[]), Next::Stop(StopReason::Stopped, None));
    story.add(RunEvent::Stopped { reason: StopReason::Stopped, which: None });
    story.add(RunEvent::Resumed);
    assert_eq!(names(&story.begin()).len(), 2);
}
