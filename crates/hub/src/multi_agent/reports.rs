//! What lanes tell: their result, words to other lanes, and whether they are done.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use loom_domain::{AgentId, Code, Error, Principal, Result};
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use super::decide::Progress;
use super::file::MultiAgentFile;
use super::row::{LaneRound, Row, RunEvent};
use crate::hub::Hub;

/// Reports of one lane-round; the newest one counts.
const REPORTS_MAX: usize = 8;
/// Bytes of a report as it stands in the journal, where the row of the lane-round's end holds it once more.
const REPORT_BYTES_MAX: usize = 256 * 1024;

/// Words to another lane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerMessage {
    /// Lane.
    pub to: String,
    /// Text.
    pub text: String,
}

/// What a lane tells of its round.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Report {
    /// Result.
    pub summary: String,
    /// Words to other lanes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<PeerMessage>,
    /// Whether the lane has nothing left to do.
    pub done: bool,
}

impl Report {
    /// The report as it is stored, printed and told to other lanes: without secrets.
    fn stored(self, hub: &Hub) -> Report {
        let messages = self.messages.into_iter();
        let messages =
            messages.map(|message| PeerMessage { text: hub.stored_text(&message.text), ..message });
        Report { summary: hub.stored_text(&self.summary), messages: messages.collect(), done: self.done }
    }

    /// The lane-round that a lane's report is of, unless something of it is refused.
    pub(super) fn taken(&self, lane: &str, file: &MultiAgentFile, rows: &[Row]) -> Result<LaneRound> {
        self.fits(lane, file)?;
        let progress = Progress::of(file, rows);
        let open = progress.lanes.get(lane).and_then(|lane| lane.open.clone());
        let of = open.ok_or_else(|| Error::new(Code::InvalidState, "this lane is in no round now"))?;
        let told = rows.iter().filter(
            |row| matches!(&row.body, RunEvent::LaneReported { of: reported, .. } if *reported == of),
        );
        if told.count() >= REPORTS_MAX {
            return Err(Error::new(Code::TooMany, format!("at most {REPORTS_MAX} reports a round"))
                .with_hint("the newest report counts; end this round with your final answer"));
        }
        Ok(of)
    }

    fn fits(&self, lane: &str, file: &MultiAgentFile) -> Result<()> {
        let limits = &file.messages;
        let too_long = |text: &str| text.chars().count() > limits.max_chars;
        if self.messages.len() > limits.max_per_round as usize {
            return Err(Error::new(
                Code::TooMany,
                format!("at most {} messages a round", limits.max_per_round),
            ));
        }
        if too_long(&self.summary) || self.messages.iter().any(|message| too_long(&message.text)) {
            return Err(Error::new(Code::TextTooLong, format!("at most {} characters", limits.max_chars)));
        }
        if serde_json::to_string(self).map_err(Error::internal)?.len() > REPORT_BYTES_MAX {
            return Err(Error::new(Code::TooLarge, format!("a report has at most {REPORT_BYTES_MAX} bytes"))
                .with_hint("write less, or fewer messages"));
        }
        let is_known = |to: &str| to != lane && file.lanes.iter().any(|one| one.id == to);
        if let Some(message) = self.messages.iter().find(|message| !is_known(&message.to)) {
            let lanes: Vec<&str> = file.lanes.iter().map(|lane| lane.id.as_str()).collect();
            return Err(Error::new(Code::InvalidInput, format!("no other lane {}", message.to))
                .with_hint(format!("lanes: {}", lanes.join(", "))));
        }
        Ok(())
    }
}

/// A report on its way into the journal.
pub(super) struct Told {
    pub(super) lane: String,
    pub(super) report: Report,
    pub(super) stored: oneshot::Sender<Result<()>>,
}

/// Which Agents work in a lane now, and where their reports go.
#[derive(Default)]
pub(crate) struct Reports(Mutex<HashMap<String, Place>>);

#[derive(Clone)]
struct Place {
    run: String,
    lane: String,
    tell: mpsc::Sender<Told>,
}

impl Reports {
    /// Takes the Agents of a run; one that works in another run keeps it from starting.
    pub(super) fn take<'a>(
        &self,
        run: &str,
        lanes: impl Iterator<Item = (&'a String, &'a String)> + Clone,
        tell: &mpsc::Sender<Told>,
    ) -> Result<()> {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, agent) in lanes.clone() {
            if let Some(place) = places.get(agent).filter(|place| place.run != run) {
                let why = format!("the agent {agent} works in the run {}", place.run);
                return Err(Error::new(Code::Locked, why).with_hint("loom multi-agent list"));
            }
        }
        for (lane, agent) in lanes {
            let place = Place { run: run.to_owned(), lane: lane.clone(), tell: tell.clone() };
            places.insert(agent.clone(), place);
        }
        Ok(())
    }

    /// Gives the Agents of a run back.
    pub(super) fn give_back(&self, run: &str) {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        places.retain(|_, place| place.run != run);
    }

    fn of(&self, agent: &AgentId) -> Option<Place> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(agent.as_str()).cloned()
    }
}

impl Hub {
    /// Takes the report of an Agent for the lane it works in; when this returns, the journal holds it.
    pub async fn report_lane(&self, who: &Principal, report: Report) -> Result<()> {
        let Principal::Agent(agent) = who else {
            return Err(Error::new(Code::Forbidden, "only the Agent of a lane reports for it"));
        };
        let nobody = || Error::new(Code::InvalidState, "this Agent works in no lane now");
        let place = self.inner.reports.of(agent).ok_or_else(nobody)?;
        let (stored, answer) = oneshot::channel();
        let told = Told { lane: place.lane, report: report.stored(self), stored };
        place.tell.send(told).await.map_err(|_| nobody())?;
        answer.await.map_err(|_| nobody())?
    }
}

#[cfg(test)]
mod tests {
    use loom_domain::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::multi_agent::file::tests::example;

    fn row(seq: u64, body: RunEvent) -> Row {
        Row { seq, at: Timestamp(0), fence: 1, body, prev: String::new(), digest: String::new() }
    }

    /// CAP-136: a lane-round takes so many reports, and none that its last row could not hold.
    #[test]
    fn cap_136_reports_have_limits() {
        let mut document = example();
        document["messages"] = json!({"max_per_round": 100, "max_chars": 8_000});
        let file = MultiAgentFile::of(&document).unwrap();
        let of = LaneRound { lane: "scout".to_owned(), round: 1, attempt: 0 };
        let mut rows = vec![row(0, RunEvent::LaneStarted { of: of.clone(), seen: 0 })];
        let report = Report { summary: "found".to_owned(), ..Report::default() };
        for n in 0..REPORTS_MAX {
            assert_eq!(report.taken("scout", &file, &rows).unwrap(), of, "{n}");
            rows.push(row(n as u64 + 1, RunEvent::LaneReported { of: of.clone(), report: report.clone() }));
        }
        let refused = report.taken("scout", &file, &rows).unwrap_err();
        assert_eq!(refused.code, Code::TooMany);
        let again = LaneRound { attempt: 1, ..of };
        rows.push(row(99, RunEvent::LaneStarted { of: again.clone(), seen: 0 }));
        assert_eq!(report.taken("scout", &file, &rows).unwrap(), again, "each attempt has its own");
        let message = PeerMessage { to: "reviewer".to_owned(), text: "x".repeat(8_000) };
        let large = Report { messages: vec![message; 33], ..Report::default() };
        assert_eq!(large.taken("scout", &file, &rows).unwrap_err().code, Code::TooLarge);
    }
}
