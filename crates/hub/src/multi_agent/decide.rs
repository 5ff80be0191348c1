//! What a loop does next: pure, from its rows alone.

use std::collections::BTreeMap;

use loom_domain::Timestamp;

use super::file::{Lane, Mode, MultiAgentFile, StopRule};
use super::reports::Report;
use super::row::{LaneEnd, LaneRound, Row, RunEvent, StopReason};

/// Wait before the first restart of a lane; each further one is twice as long.
const RESTART_WAIT_MS: i64 = 1_000;

/// How far a lane is.
#[derive(Debug, Clone, Default)]
pub(super) struct LaneState {
    /// Rounds that are over.
    pub(super) rounds: u32,
    /// The lane-round that has begun and is not over.
    pub(super) open: Option<LaneRound>,
    /// The next attempt of one that failed, and when it may begin.
    restart: Option<(LaneRound, Timestamp)>,
    /// Its own budget is spent.
    spent: bool,
    /// Attempts so far.
    pub(super) turns: u64,
    /// Tokens so far.
    pub(super) tokens: u64,
    /// Restarts of all rounds.
    pub(super) restarts: u32,
    /// It failed for good.
    pub(super) failed: bool,
    /// Results, round by round.
    pub(super) results: Vec<Report>,
    /// What the open lane-round told.
    pub(super) told: Option<Report>,
    /// Turns, newest last.
    pub(super) turn_ids: Vec<String>,
    /// The newest error.
    pub(super) error: Option<String>,
}

/// Everything that the rows say.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress {
    pub(super) lanes: BTreeMap<String, LaneState>,
    pub(super) started_at: Timestamp,
    pub(super) failures: u32,
    pub(super) stop_asked: Option<u64>,
    pub(super) stopped: Option<(StopReason, Option<String>)>,
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// Take up what was open, and begin what is new.
    Begin { open: Vec<LaneRound>, fresh: Vec<LaneRound> },
    /// Nothing until this time, or until a lane-round ends.
    Wait(Option<Timestamp>),
    /// It is over, once what runs has ended.
    Stop(StopReason, Option<String>),
}

impl Progress {
    /// Reads the rows.
    pub(super) fn of(file: &MultiAgentFile, rows: &[Row]) -> Self {
        let lanes = file.lanes.iter().map(|lane| (lane.id.clone(), LaneState::default())).collect();
        let mut progress = Progress { lanes, ..Progress::default() };
        for row in rows {
            progress.take(file, row);
        }
        progress
    }

    fn take(&mut self, file: &MultiAgentFile, row: &Row) {
        self.told(file, row);
        for lane in &file.lanes {
            let Some(state) = self.lanes.get_mut(&lane.id) else { continue };
            state.spent = lane.budget.turns.is_some_and(|most| state.turns >= most)
                || lane.budget.tokens.is_some_and(|most| state.tokens >= most);
        }
    }

    fn told(&mut self, file: &MultiAgentFile, row: &Row) {
        match &row.body {
            RunEvent::Started { .. } => self.started_at = row.at,
            RunEvent::Resumed => (self.stop_asked, self.stopped) = (None, None),
            RunEvent::StopAsked { grace_ms } => self.stop_asked = Some(*grace_ms),
            RunEvent::Stopped { reason, which } => self.stopped = Some((*reason, which.clone())),
            RunEvent::LaneStarted { of, .. } => {
                let Some(lane) = self.lanes.get_mut(&of.lane) else { return };
                lane.open = Some(of.clone());
                lane.restart = None;
                lane.turns += 1;
                lane.restarts += u32::from(of.attempt > 0);
            }
            RunEvent::LaneReported { of, report } => {
                if let Some(lane) = self.lanes.get_mut(&of.lane) {
                    lane.told = Some(report.clone());
                }
            }
            RunEvent::LaneDone { of, end, turn_id, report, tokens, error } => {
                let most =
                    file.lanes.iter().find(|lane| lane.id == of.lane).map_or(0, |lane| lane.max_restarts);
                let Some(lane) = self.lanes.get_mut(&of.lane) else { return };
                lane.tokens += tokens.unwrap_or(0);
                lane.turn_ids.extend(turn_id.clone());
                lane.error = error.as_ref().map(ToString::to_string);
                (lane.open, lane.told) = (None, None);
                match end {
                    LaneEnd::Done => {
                        lane.rounds += 1;
                        lane.results.push(report.clone());
                    }
                    LaneEnd::Failed if of.attempt < most => {
                        self.failures += 1;
                        let wait = RESTART_WAIT_MS << of.attempt.min(16);
                        let again = LaneRound { attempt: of.attempt + 1, ..of.clone() };
                        lane.restart = Some((again, row.at.plus_ms(wait)));
                    }
                    LaneEnd::Failed => {
                        self.failures += 1;
                        lane.failed = true;
                    }
                    LaneEnd::Lost => {
                        self.failures += 1;
                        lane.rounds += 1;
                        lane.results.push(Report::default());
                    }
                    // Another attempt, once the loop goes on.
                    LaneEnd::Stopped => {
                        let again = LaneRound { attempt: of.attempt + 1, ..of.clone() };
                        lane.restart = Some((again, row.at));
                    }
                }
            }
        }
    }

    pub(super) fn turns(&self) -> u64 {
        self.lanes.values().map(|lane| lane.turns).sum()
    }

    pub(super) fn tokens(&self) -> u64 {
        self.lanes.values().map(|lane| lane.tokens).sum()
    }

    /// Lanes that go on: neither failed nor at the end of their own budget.
    fn working(&self) -> impl Iterator<Item = &LaneState> {
        self.lanes.values().filter(|lane| !lane.failed && (!lane.spent || lane.open.is_some()))
    }

    /// Rounds that every lane still at work has ended.
    pub(super) fn whole_rounds(&self) -> u32 {
        self.working().map(|lane| lane.rounds).min().unwrap_or(0)
    }

    /// What comes next. `running` are the lanes whose Turns run now.
    pub(super) fn next(&self, file: &MultiAgentFile, running: &[&str], now: Timestamp) -> Next {
        if self.stop_asked.is_some() {
            return Next::Stop(StopReason::Stopped, None);
        }
        if let Some(stop) = self.rule(file) {
            return stop;
        }
        if self.lanes.values().all(|lane| lane.failed) {
            return Next::Stop(StopReason::Failures, None);
        }
        let (mut open, mut fresh, mut later, mut spent) = (Vec::new(), Vec::new(), None, None);
        for lane in &file.lanes {
            match self.lane(file, lane, running, now) {
                Place::Open(round) => open.push(round),
                Place::Ready(round) => fresh.push(round),
                Place::Later(at) => later = Some(later.map_or(at, |known: Timestamp| known.min(at))),
                Place::Spent => spent = Some(format!("lane {}", lane.id)),
                Place::Not => {}
            }
        }
        if let Some(which) = self.over_budget(file, now) {
            return match (open.is_empty(), running.is_empty(), fresh.is_empty() && later.is_none()) {
                // What was begun comes to its end first.
                (false, ..) => Next::Begin { open, fresh: Vec::new() },
                (true, false, _) => Next::Wait(None),
                (true, true, false) => Next::Stop(StopReason::Budget, Some(which)),
                (true, true, true) => at_the_end(spent),
            };
        }
        if let Some(most) = file.budget.turns {
            fresh.truncate(usize::try_from(most.saturating_sub(self.turns())).unwrap_or(usize::MAX));
        }
        match (open.is_empty() && fresh.is_empty(), later, running.is_empty()) {
            (false, ..) => Next::Begin { open, fresh },
            (true, Some(at), _) => Next::Wait(Some(at)),
            (true, None, false) => Next::Wait(None),
            (true, None, true) => at_the_end(spent),
        }
    }

    fn lane(&self, file: &MultiAgentFile, lane: &Lane, running: &[&str], now: Timestamp) -> Place {
        let Some(state) = self.lanes.get(&lane.id) else { return Place::Not };
        if running.contains(&lane.id.as_str()) || state.failed {
            return Place::Not;
        }
        if let Some(open) = &state.open {
            return Place::Open(open.clone());
        }
        let is_in_step = file.rounds.mode == Mode::Free || state.rounds == self.whole_rounds();
        if state.rounds >= file.rounds.max || (!is_in_step && !state.spent) {
            return Place::Not;
        }
        if state.spent {
            return Place::Spent;
        }
        match &state.restart {
            Some((_, at)) if *at > now => Place::Later(*at),
            Some((again, _)) => Place::Ready(again.clone()),
            None => {
                let (lane, round) = (lane.id.clone(), state.rounds + 1);
                Place::Ready(LaneRound { lane, round, attempt: 0 })
            }
        }
    }

    fn over_budget(&self, file: &MultiAgentFile, now: Timestamp) -> Option<String> {
        let over = |most: Option<u64>, used: u64| most.is_some_and(|most| used >= most);
        if over(file.budget.turns, self.turns()) {
            return Some("turns".to_owned());
        }
        if over(file.budget.tokens, self.tokens()) {
            return Some("tokens".to_owned());
        }
        let is_late = file.wall_ms().is_some_and(|ms| now.since_ms(self.started_at) >= ms);
        is_late.then(|| "wall".to_owned())
    }

    fn rule(&self, file: &MultiAgentFile) -> Option<Next> {
        file.stop.any.iter().find_map(|rule| match rule {
            StopRule::LaneDone(lane) => {
                let is_done = self.lanes.get(lane)?.results.iter().any(|report| report.done);
                is_done.then(|| Next::Stop(StopReason::LaneDone, Some(lane.clone())))
            }
            StopRule::IdleRounds(rounds) => {
                self.is_idle(*rounds).then_some(Next::Stop(StopReason::Idle, None))
            }
            StopRule::Failures(most) => {
                (self.failures >= *most).then_some(Next::Stop(StopReason::Failures, None))
            }
        })
    }

    /// Whether the last rounds brought no message and no other result than the ones before.
    fn is_idle(&self, rounds: u32) -> bool {
        let (whole, rounds) = (self.whole_rounds() as usize, rounds as usize);
        if whole <= rounds {
            return false;
        }
        self.working().filter_map(|lane| lane.results.get(whole - rounds - 1..whole)).all(|results| {
            let mut pairs = results.iter().zip(results.iter().skip(1));
            pairs.all(|(before, after)| after.messages.is_empty() && after.summary == before.summary)
        })
    }
}

/// Nothing is left to begin: all rounds were run, or the lanes' own budgets are spent.
fn at_the_end(spent: Option<String>) -> Next {
    match spent {
        Some(which) => Next::Stop(StopReason::Budget, Some(which)),
        None => Next::Stop(StopReason::RoundsMax, None),
    }
}

enum Place {
    Open(LaneRound),
    Ready(LaneRound),
    Later(Timestamp),
    Spent,
    Not,
}

#[cfg(test)]
mod tests;
