//! Looks again and again, and tells each fact once.

use std::collections::BTreeSet;
use std::time::Duration;

use loom_domain::{Code, Error, Result, Timestamp};
use serde_json::json;
use tokio::time::Instant;

use super::evaluate::{Assessment, ProgramState, State, evaluate};
use super::input::ObserveInput;
use super::observe::observe;
use super::output::{Item, fields};
use super::program::Program;
use super::snapshot::{Delta, Snapshot, SnapshotFile};
use super::verdict;
use crate::{Cursor, Cx, Flow, RunOutcome, RunRequest, Sink, SourceRef, StopReason};

/// Longest pause between two looks while nothing changes.
const INTERVAL_MAX: Duration = Duration::from_secs(300);

/// Watches until the program ends, the deadline passes, or nobody listens.
pub(super) async fn watch(
    cx: &Cx,
    program: &Program,
    input: &ObserveInput,
    request: &RunRequest,
    out: &mut dyn Sink,
) -> Result<RunOutcome> {
    let span = input.span()?;
    let mut file = SnapshotFile::open(cx, program, request)?;
    let mut teller = Teller { out, stopped: None, has_dropped: false };
    match request.cursor.as_ref() {
        Some(cursor) => goes_on(cursor, file.snapshot())?,
        None => {
            file.forget()?;
            teller.tell(Item::event("program_started", vec![], cx.now()))?;
        }
    }
    let deadline = Instant::now() + span.deadline;
    let (mut pause, mut degraded) = (span.interval, false);
    loop {
        match Box::pin(observe(cx, program, request)).await {
            Ok(observed) => {
                let assessed = evaluate(&observed)?;
                let snapshot = Snapshot::of(&assessed, observed.complete);
                let delta = snapshot.since(file.snapshot());
                let before = file.snapshot().clone();
                let told = teller.changes(&assessed, &delta, &before, cx.now())?;
                // What nobody took is not told: whoever goes on hears of it.
                let kept = if teller.has_dropped { before.with(&snapshot, &told) } else { snapshot };
                let is_partial = !observed.complete || assessed.pulls.iter().any(|one| one.key.is_none());
                if is_partial && !degraded {
                    let why = vec!["not everything could be read".to_owned()];
                    teller.tell(Item::event("poll_degraded", why, cx.now()))?;
                }
                degraded = is_partial;
                file.keep(kept)?;
                teller.out.checkpoint(&cursor_of(file.snapshot()));
                let document = fields(program, &assessed, &delta, observed.complete);
                teller.out.fields(serde_json::to_value(document).map_err(Error::internal)?);
                if let Some(stop_reason) = teller.stopped {
                    let cursor = Some(cursor_of(file.snapshot()));
                    return Ok(RunOutcome { stop_reason, cursor, ..RunOutcome::default() });
                }
                if let Some(name) = end_of(assessed.state) {
                    teller.tell(Item::event(name, vec![], cx.now()))?;
                    return Ok(ended(&assessed, observed.sources));
                }
                pause = if delta.is_empty() {
                    (pause * 2).min(INTERVAL_MAX.max(span.interval))
                } else {
                    span.interval
                };
            }
            Err(error) if error.retryable => {
                if !degraded {
                    teller.tell(Item::event("poll_degraded", vec![error.code.to_string()], cx.now()))?;
                }
                degraded = true;
                let asked = Duration::from_millis(error.retry_after_ms.unwrap_or(0));
                pause = asked.max(pause);
            }
            Err(error) => return Err(error),
        }
        if Instant::now() + pause >= deadline {
            tokio::time::sleep_until(deadline).await;
            teller.tell(Item::event("deadline", vec![], cx.now()))?;
            return Err(Error::new(Code::DeadlineExceeded, "the program was not done in time")
                .with_hint("go on with the cursor"));
        }
        tokio::time::sleep(pause).await;
    }
}

/// The event that ends a watch. A program that only people can move ends it too: nothing else is to be seen.
fn end_of(state: ProgramState) -> Option<&'static str> {
    match state {
        ProgramState::Satisfied => Some("program_satisfied"),
        ProgramState::Failed => Some("program_failed"),
        ProgramState::NeedsHuman => Some("program_needs_human"),
        ProgramState::InProgress | ProgramState::Unknown => None,
    }
}

fn ended(assessed: &Assessment, source_refs: Vec<SourceRef>) -> RunOutcome {
    RunOutcome { source_refs, verdict: verdict(assessed.state), ..RunOutcome::default() }
}

/// What a cursor names: the snapshot up to which everything was told.
fn cursor_of(snapshot: &Snapshot) -> Cursor {
    Cursor::at(json!({"snapshot": snapshot.digest()}))
}

fn goes_on(cursor: &Cursor, last: &Snapshot) -> Result<()> {
    if cursor.position.get("snapshot") == Some(&json!(last.digest())) {
        return Ok(());
    }
    Err(Error::new(Code::InvalidInput, "this cursor belongs to another observation than the last one")
        .with_hint("watch without a cursor: everything is told once more")
        .with_detail("pointer", "/cursor"))
}

/// Gives events on.
struct Teller<'a> {
    out: &'a mut dyn Sink,
    stopped: Option<StopReason>,
    has_dropped: bool,
}

impl Teller<'_> {
    fn tell(&mut self, item: Item) -> Result<()> {
        if self.stopped.is_some() {
            self.has_dropped = true;
            return Ok(());
        }
        let item = serde_json::to_value(item).map_err(Error::internal)?;
        if let Flow::Stop(reason) = self.out.item(item) {
            self.stopped = Some(reason);
        }
        Ok(())
    }

    /// Tells what changed; what became satisfied or failed is told as such as well. Gives the names, in lower case,
    /// of which everything was taken.
    fn changes(
        &mut self,
        assessed: &Assessment,
        delta: &Delta,
        before: &Snapshot,
        now: Timestamp,
    ) -> Result<BTreeSet<String>> {
        let mut told = BTreeSet::new();
        for one in &assessed.pulls {
            let record = Item::of(one, now);
            let was = before.pulls.get(&one.wish.key()).map(|kept| kept.state);
            if delta.added.contains(&one.wish.name) {
                self.tell(Item { event: Some("pr_added"), ..record.clone() })?;
            }
            if let Some(fields) = delta.changed.get(&one.wish.name) {
                self.tell(Item { event: Some("pr_changed"), fields: fields.clone(), ..record.clone() })?;
            }
            if one.state.is_done() && !was.is_some_and(State::is_done) {
                self.tell(Item { event: Some("pr_satisfied"), ..record.clone() })?;
            }
            if one.state == State::Failed && was != Some(State::Failed) {
                self.tell(Item { event: Some("pr_failed"), ..record })?;
            }
            told.extend((!self.has_dropped).then(|| one.wish.key()));
        }
        for name in &delta.removed {
            let gone = Item { r#ref: Some(name.clone()), ..Item::event("pr_removed", vec![], now) };
            self.tell(gone)?;
            told.extend((!self.has_dropped).then(|| name.to_ascii_lowercase()));
        }
        Ok(told)
    }
}
