//! A scan for the queue: everything is read first, then compared, then offered.

use std::fs::File;
use std::time::Duration;

use loom_domain::{Code, Error, Result, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use super::offers::{Offered, backlog, offer};
use super::{Delta, QueueFile, Seen, State};
use crate::github::{Reader, RepoName};
use crate::pr_review::input::ScanInput;
use crate::pr_review::output::{Changed, Observation, QueueFields, QueueOffer, Waiting};
use crate::pr_review::records::Records;
use crate::pr_review::scan::{self, Order};
use crate::{Cx, Flow, RunOutcome, RunRequest, Sink, StopReason};

/// Looks at a lock that another process holds.
const LOCK_TRIES: u32 = 50;
const LOCK_WAIT: Duration = Duration::from_millis(20);

/// Refuses what a queue cannot be asked with.
pub(crate) fn check(input: &ScanInput, request: &RunRequest) -> Result<()> {
    let refused = |pointer: &str, why: &str| {
        Err(Error::new(Code::InvalidInput, why.to_owned()).with_detail("pointer", pointer))
    };
    match (input.queue, &input.state_file) {
        (false, Some(_)) => refused("/state_file", "a state file belongs to a queue: add --queue"),
        (true, Some(_)) if input.repo.len() != 1 => {
            refused("/state_file", "a state file holds the queue of one repository")
        }
        (true, _) if request.cursor.is_some() => {
            refused("/cursor", "a queue needs the whole list: run it without a cursor")
        }
        _ => Ok(()),
    }
}

/// Observes the repositories and offers the next heads.
pub(crate) async fn observe(
    cx: &Cx,
    order: Order,
    input: &ScanInput,
    request: &RunRequest,
    out: &mut dyn Sink,
) -> Result<RunOutcome> {
    let names: Vec<String> = order.repos.iter().map(RepoName::name).collect();
    let mut queues = Queues::open(cx, input, &names)?;
    let own = own_login(cx).await?;
    let mut records = Records::all();
    let scanned = Box::pin(scan::scan(cx, order, scan::patience(input), request, &mut records)).await;
    match scanned {
        Ok(outcome) if outcome.stop_reason == StopReason::End => {
            let fields = queues.take_in(&records.list, own.as_deref(), input, cx.now()).await?;
            queues.show(&mut records.list, own.as_deref());
            give(records.list, out);
            out.fields(fields);
            Ok(outcome)
        }
        // What was not seen whole changes nothing.
        unfinished => {
            out.fields(fields_of(
                Observation::NotObserved,
                &[],
                &Delta::default(),
                &queues.states,
                cx.now(),
            )?);
            // No cursor: the next look begins anew.
            Ok(RunOutcome { cursor: None, ..unfinished? })
        }
    }
}

fn give(records: Vec<Value>, out: &mut dyn Sink) {
    for record in records {
        if let Flow::Stop(_) = out.item(record) {
            return;
        }
    }
}

/// The account of the token.
async fn own_login(cx: &Cx) -> Result<Option<String>> {
    #[derive(Deserialize)]
    struct User {
        login: String,
    }
    let reader = Reader::open(cx, crate::pr_review::PATIENCE).await?;
    if !reader.has_token() {
        return Ok(None);
    }
    let url = reader.url("/user");
    Ok(Some(reader.read(&url, "login/1", |user: User| user.login).await?.value))
}

/// The queues of a run, in the order of its repositories.
struct Queues {
    files: Vec<QueueFile>,
    states: Vec<State>,
}

impl Queues {
    fn open(cx: &Cx, input: &ScanInput, names: &[String]) -> Result<Self> {
        let files = names.iter().map(|name| QueueFile::open(cx, input.state_file.as_deref(), name));
        let mut queues = Queues { files: files.collect::<Result<_>>()?, states: Vec::new() };
        queues.read(names, input)?;
        Ok(queues)
    }

    /// Reads every state; each belongs to the filter of the run.
    fn read(&mut self, names: &[String], input: &ScanInput) -> Result<()> {
        let scope = input.filter.clone().unwrap_or_default();
        self.states.clear();
        for (file, name) in self.files.iter_mut().zip(names) {
            let state = file.read(name)?;
            if state.scope.as_ref().is_some_and(|known| *known != scope) {
                let known = state.scope.unwrap_or_default();
                return Err(Error::new(
                    Code::InvalidInput,
                    format!("this queue observes \"{known}\": another filter needs a state file of its own"),
                )
                .with_hint("name one with --state-file")
                .with_detail("pointer", "/filter"));
            }
            self.states.push(State { scope: Some(scope.clone()), ..state });
        }
        Ok(())
    }

    /// The locks of all files; another process holds one for a moment only.
    async fn lock(&self) -> Result<Vec<File>> {
        let mut tries = 0;
        loop {
            match self.files.iter().map(QueueFile::lock).collect() {
                Err(error) if error.code == Code::Locked && tries < LOCK_TRIES => tries += 1,
                locks => return locks,
            }
            tokio::time::sleep(LOCK_WAIT).await;
        }
    }

    /// Compares, offers and keeps. The scan took its time: what others noted meanwhile counts.
    async fn take_in(
        &mut self,
        records: &[Value],
        own: Option<&str>,
        input: &ScanInput,
        now: Timestamp,
    ) -> Result<Value> {
        let locks = self.lock().await?;
        let names: Vec<String> = self.states.iter().map(|state| state.repo.clone()).collect();
        self.read(&names, input)?;
        let mut all = Delta::default();
        for state in &mut self.states {
            let seen: Vec<Seen> = records
                .iter()
                .filter(|record| is_of(record, &state.repo))
                .filter_map(|record| Seen::of(record, own))
                .collect();
            let delta = state.observe(&seen, now);
            all.added.extend(delta.added);
            all.removed.extend(delta.removed);
            all.changed.extend(delta.changed);
        }
        let take = usize::try_from(input.take).unwrap_or(1);
        let offers = offer(&mut self.states, take, now);
        for ((file, state), lock) in self.files.iter_mut().zip(&self.states).zip(&locks) {
            file.put(state, lock)?;
        }
        let observation = if all.is_empty() { Observation::Unchanged } else { Observation::MaterialChange };
        fields_of(observation, &offers, &all, &self.states, now)
    }

    /// Tells in each record where its head stands.
    fn show(&self, records: &mut [Value], own: Option<&str>) {
        for record in records {
            let Some(state) = self.states.iter().find(|state| is_of(record, &state.repo)) else { continue };
            let Some(head) = record["number"].as_u64().and_then(|number| state.heads.get(&number)) else {
                continue;
            };
            let handled = state.is_handled(&head.key);
            let lane = state.is_waiting(head).then(|| head.lane().as_str());
            record["queue"] = json!({"lane": lane, "ready_since": head.ready_since, "handled": handled});
            if let (Some(own), Some(author)) = (own, record.get_mut("author").filter(|one| one.is_object())) {
                author["is_self"] = Value::Bool(author["login"].as_str() == Some(own));
            }
        }
    }
}

fn is_of(record: &Value, repo: &str) -> bool {
    let name = record["key"].as_str().and_then(|key| key.split_once('#')).map(|(name, _)| name);
    name.is_some_and(|name| name.eq_ignore_ascii_case(repo))
}

fn fields_of(
    observation: Observation,
    offers: &[Offered],
    delta: &Delta,
    states: &[State],
    now: Timestamp,
) -> Result<Value> {
    let waiting = backlog(states, now);
    let fields = QueueFields {
        observation,
        offers: offers.iter().map(QueueOffer::of).collect(),
        backlog: Waiting {
            unhandled: waiting.unhandled,
            oldest_age_seconds: waiting.oldest_age_seconds,
            next_poll_seconds: waiting.next_poll_seconds,
        },
        added: delta.added.clone(),
        removed: delta.removed.clone(),
        changed: delta
            .changed
            .iter()
            .map(|(key, fields)| Changed { key: key.clone(), fields: fields.clone() })
            .collect(),
    };
    serde_json::to_value(fields).map_err(Error::internal)
}

impl QueueOffer {
    fn of(offered: &Offered) -> Self {
        QueueOffer {
            offer_id: offered.offer_id.clone(),
            key: offered.key.clone(),
            lane: offered.lane.as_str(),
            ready_since: offered.ready_since.to_string(),
            reason: offered.reason.clone(),
        }
    }
}
