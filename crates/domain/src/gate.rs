//! Gates: the owner's approval of one external write, bound to its exact bytes (capability specification 4.8).
//!
//! A gate is used at most once. What became of the write is told apart from the gate: `attempting` is on disk
//! before the first byte leaves, and an attempt whose answer was lost is `outcome_unknown` until it is settled.

use serde::{Deserialize, Serialize};

use crate::{AgentId, Code, Error, GateId, OperationId, Timestamp, words};

/// How long a gate waits for the owner, milliseconds.
pub const OPEN_MS: i64 = 24 * 3_600_000;
/// How long an approval lasts unless the owner says otherwise, seconds.
pub const APPROVAL_SECONDS: u64 = 15 * 60;
/// Shortest and longest life of an approval, seconds.
pub const APPROVAL_RANGE: std::ops::RangeInclusive<u64> = 60..=24 * 3_600;
/// Bytes of a reason.
pub const REASON_BYTES_MAX: usize = 400;

words! {
    /// How far a gate is.
    pub enum State {
        /// It waits for the owner.
        Open = "open",
        /// It may be used, once.
        Approved = "approved",
        /// The owner said no.
        Denied = "denied",
        /// Its time ran out.
        Expired = "expired",
        /// Its write was begun.
        Used = "used",
    }
}

words! {
    /// What became of the write behind a used gate.
    pub enum Outcome {
        /// It is on its way.
        Attempting = "attempting",
        /// The provider confirmed it.
        Confirmed = "confirmed",
        /// It did not happen.
        Refused = "refused",
        /// Nobody knows.
        OutcomeUnknown = "outcome_unknown",
    }
}

/// One gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// Id.
    pub id: GateId,
    /// Order of commit.
    pub seq: u64,
    /// Plan it belongs to.
    pub plan_id: OperationId,
    /// Call of the plan.
    pub call_id: String,
    /// Agent that asked for it; absent is the owner.
    pub agent_id: Option<AgentId>,
    /// Digest of the bytes that may be sent.
    pub call_digest: String,
    /// How far it is.
    pub state: State,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// End of the wait, or of the approval.
    pub expires_at: Timestamp,
    /// When the owner decided.
    pub decided_at: Option<Timestamp>,
    /// Why it was denied.
    pub reason: Option<String>,
    /// What became of the write.
    pub outcome: Option<Outcome>,
    /// Code of the failure, if it failed.
    pub outcome_code: Option<String>,
    /// Run that used it.
    pub run_id: Option<String>,
    /// When the write was begun.
    pub attempted_at: Option<Timestamp>,
    /// Node that began it.
    #[serde(default)]
    pub node: String,
    /// Whether the owner settled it by word.
    #[serde(default)]
    pub settled_by_owner: bool,
    /// Version.
    pub version: u64,
}

impl Gate {
    /// The owner says yes to these bytes, for a time.
    pub fn approve(&mut self, call_digest: &str, seconds: u64, now: Timestamp) -> Result<(), Error> {
        self.decidable(call_digest, now)?;
        if !APPROVAL_RANGE.contains(&seconds) {
            return Err(Error::invalid("expires", "expected 1m to 24h"));
        }
        self.state = State::Approved;
        self.decided_at = Some(now);
        self.expires_at = now.plus_ms(i64::try_from(seconds).unwrap_or(0) * 1_000);
        Ok(())
    }

    /// The owner says no. An approval that was not used yet can be taken back the same way.
    pub fn deny(&mut self, call_digest: &str, reason: Option<String>, now: Timestamp) -> Result<(), Error> {
        self.decidable(call_digest, now)?;
        if reason.as_ref().is_some_and(|reason| reason.len() > REASON_BYTES_MAX) {
            return Err(Error::invalid("reason", format!("at most {REASON_BYTES_MAX} bytes")));
        }
        self.state = State::Denied;
        self.decided_at = Some(now);
        self.reason = reason;
        Ok(())
    }

    /// The write behind it begins.
    pub fn begin(
        &mut self,
        call_digest: &str,
        run_id: &str,
        node: &str,
        now: Timestamp,
    ) -> Result<(), Error> {
        match self.state {
            State::Open if now < self.expires_at => {
                return Err(Error::new(Code::ApprovalRequired, "the gate waits for the owner")
                    .with_detail("gate_id", self.id.as_str())
                    .with_detail("call_digest", self.call_digest.as_str()));
            }
            State::Approved if now < self.expires_at => {}
            State::Open | State::Approved => return Err(self.invalid("expired")),
            state => return Err(self.invalid(state.as_str())),
        }
        if self.call_digest != call_digest {
            return Err(self.invalid("other_bytes").with_detail("call_digest", call_digest));
        }
        self.state = State::Used;
        self.outcome = Some(Outcome::Attempting);
        self.run_id = Some(run_id.to_owned());
        self.attempted_at = Some(now);
        node.clone_into(&mut self.node);
        Ok(())
    }

    /// What became of the write that was begun. An end that is known never changes.
    pub fn end(&mut self, outcome: Outcome, code: Option<String>) -> Result<(), Error> {
        match self.outcome {
            Some(Outcome::Attempting) => {
                (self.outcome, self.outcome_code) = (Some(outcome), code);
                Ok(())
            }
            _ => Err(Error::new(Code::ApprovalInvalid, "no attempt of this gate is on its way")),
        }
    }

    /// The owner's word on a write that nobody can tell of.
    pub fn settle(&mut self, call_digest: &str, sent: bool) -> Result<(), Error> {
        if self.call_digest != call_digest {
            return Err(self.invalid("other_bytes"));
        }
        if self.outcome != Some(Outcome::OutcomeUnknown) {
            return Err(Error::new(Code::ApprovalInvalid, "the fate of this call is not unknown")
                .with_detail("state", self.state.as_str())
                .with_hint("only a call with outcome_unknown is settled"));
        }
        self.outcome = Some(if sent { Outcome::Confirmed } else { Outcome::Refused });
        self.settled_by_owner = true;
        Ok(())
    }

    /// Whether its time ran out and nobody was told yet.
    pub fn is_overdue(&self, now: Timestamp) -> bool {
        matches!(self.state, State::Open | State::Approved) && now >= self.expires_at
    }

    fn decidable(&self, call_digest: &str, now: Timestamp) -> Result<(), Error> {
        if self.call_digest != call_digest {
            return Err(self.invalid("other_bytes"));
        }
        match self.state {
            State::Open | State::Approved if now < self.expires_at => Ok(()),
            State::Open | State::Approved => Err(self.invalid("expired")),
            state => Err(self.invalid(state.as_str())),
        }
    }

    fn invalid(&self, why: &str) -> Error {
        let error = Error::new(
            Code::ApprovalInvalid,
            format!("{} cannot be used for this: {}", self.id, words_of(why)),
        )
        .with_detail("gate_id", self.id.as_str())
        .with_detail("reason", why);
        match self.outcome {
            Some(Outcome::OutcomeUnknown) => error.with_hint(format!(
                "look whether it arrived, then loom value-connectors approve {} --gate {} --call-digest {} --settle sent|not-sent",
                self.plan_id, self.id, self.call_digest
            )),
            _ => error,
        }
    }
}

fn words_of(why: &str) -> &'static str {
    match why {
        "other_bytes" => "it is for other bytes",
        "expired" => "its time ran out",
        "denied" => "it was denied",
        "used" => "it was used already",
        _ => "it is not open",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate() -> Gate {
        Gate {
            id: GateId::new(1, 1),
            seq: 1,
            plan_id: OperationId::new(1, 1),
            call_id: "call-1".to_owned(),
            agent_id: None,
            call_digest: "sha256:a".to_owned(),
            state: State::Open,
            opened_at: Timestamp(0),
            expires_at: Timestamp(OPEN_MS),
            decided_at: None,
            reason: None,
            outcome: None,
            outcome_code: None,
            run_id: None,
            attempted_at: None,
            node: String::new(),
            settled_by_owner: false,
            version: 1,
        }
    }

    fn reason(error: &Error) -> &str {
        error.detail["reason"].as_str().unwrap_or_default()
    }

    /// CAP-115: an approval is for its bytes, and for one use.
    #[test]
    fn cap_115_an_approval_is_for_its_bytes_and_one_use() {
        let mut gate = gate();
        let now = Timestamp(1_000);
        let waits = gate.begin("sha256:a", "op_1", "n1", now).unwrap_err();
        assert_eq!(
            (waits.code, waits.detail["gate_id"].as_str()),
            (Code::ApprovalRequired, Some(gate.id.as_str()))
        );
        assert_eq!(reason(&gate.approve("sha256:b", 900, now).unwrap_err()), "other_bytes");
        assert_eq!(gate.approve("sha256:a", 59, now).unwrap_err().code, Code::InvalidArgument);
        gate.approve("sha256:a", 900, now).unwrap();
        assert_eq!(reason(&gate.begin("sha256:b", "op_1", "n1", now).unwrap_err()), "other_bytes");
        gate.begin("sha256:a", "op_1", "n1", now).unwrap();
        assert_eq!((gate.state, gate.outcome), (State::Used, Some(Outcome::Attempting)));
        assert_eq!(reason(&gate.begin("sha256:a", "op_2", "n1", now).unwrap_err()), "used");
        gate.end(Outcome::Confirmed, None).unwrap();
        assert!(gate.end(Outcome::Refused, None).is_err() && gate.settle("sha256:a", true).is_err());
    }

    #[test]
    fn a_gate_ends_by_time_or_by_no() {
        let mut late = gate();
        late.approve("sha256:a", 60, Timestamp(0)).unwrap();
        assert!(!late.is_overdue(Timestamp(59_999)) && late.is_overdue(Timestamp(60_000)));
        assert_eq!(reason(&late.begin("sha256:a", "op_1", "n1", Timestamp(60_000)).unwrap_err()), "expired");
        let mut denied = gate();
        denied.approve("sha256:a", 60, Timestamp(0)).unwrap();
        denied.deny("sha256:a", Some("changed my mind".to_owned()), Timestamp(1)).unwrap();
        assert_eq!(reason(&denied.begin("sha256:a", "op_1", "n1", Timestamp(2)).unwrap_err()), "denied");
        assert!(denied.approve("sha256:a", 60, Timestamp(3)).is_err());
    }

    /// CAP-118: only an unknown fate is settled by word, and only for the bytes it was about.
    #[test]
    fn cap_118_the_owner_settles_only_what_is_unknown() {
        let mut gate = gate();
        assert!(gate.settle("sha256:a", true).is_err());
        gate.approve("sha256:a", 60, Timestamp(0)).unwrap();
        gate.begin("sha256:a", "op_1", "n1", Timestamp(1)).unwrap();
        gate.end(Outcome::OutcomeUnknown, Some("outcome_unknown".to_owned())).unwrap();
        assert!(gate.settle("sha256:b", true).is_err());
        gate.settle("sha256:a", false).unwrap();
        assert_eq!((gate.outcome, gate.settled_by_owner), (Some(Outcome::Refused), true));
        assert!(gate.settle("sha256:a", true).is_err());
    }
}
