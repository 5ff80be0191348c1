//! The file of a loop (`loom.multi_agent/v1`) and what is wrong with one.

use std::collections::BTreeSet;

use loom_capabilities::{Schema, TurnCall};
use loom_domain::time::parse_duration_ms;
use loom_domain::{Code, Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

const SCHEMA: &str = "loom.multi_agent/v1";
const LANES_MAX: usize = 16;
const ROUNDS_MAX: u32 = 1_000;
const RESTARTS_MAX: u32 = 10;
const TEXT_CHARS_MAX: usize = 8_000;
const MESSAGES_MAX: u32 = 100;
const CONNECTORS_MAX: usize = 16;

/// How lanes go from round to round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Mode {
    /// All lanes end a round before one begins the next.
    #[default]
    Barrier,
    /// Each lane at its own speed.
    Free,
}

/// Rounds of a loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Rounds {
    pub(super) max: u32,
    #[serde(default)]
    pub(super) mode: Mode,
}

/// Money of a budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Cost {
    amount: String,
    currency: String,
}

/// What a loop or a lane may use.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Budget {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) turns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) wall: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost: Option<Cost>,
}

/// One lane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Lane {
    pub(super) id: String,
    pub(super) agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) runtime: Option<String>,
    #[serde(default)]
    pub(super) role: String,
    #[serde(default)]
    pub(super) reads: Vec<String>,
    #[serde(default)]
    pub(super) connectors: Vec<TurnCall>,
    #[serde(default)]
    pub(super) budget: Budget,
    #[serde(default)]
    pub(super) max_restarts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    worktree: Option<Value>,
}

/// Limits of what lanes tell each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Messages {
    pub(super) max_per_round: u32,
    pub(super) max_chars: usize,
}

impl Default for Messages {
    fn default() -> Self {
        Messages { max_per_round: 8, max_chars: TEXT_CHARS_MAX }
    }
}

/// What ends a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum StopRule {
    /// This lane said that it is done.
    LaneDone(String),
    /// Nothing new came in so many rounds.
    IdleRounds(u32),
    /// So many lane-rounds failed.
    Failures(u32),
}

/// Any of these ends it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Stop {
    pub(super) any: Vec<StopRule>,
}

/// A loop as its owner wrote it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MultiAgentFile {
    schema_version: String,
    pub(super) id: String,
    pub(super) objective: String,
    pub(super) rounds: Rounds,
    pub(super) budget: Budget,
    pub(super) lanes: Vec<Lane>,
    #[serde(default)]
    pub(super) messages: Messages,
    #[serde(default)]
    pub(super) stop: Stop,
}

/// The JSON Schema of a loop's file.
pub fn multi_agent_schema() -> Schema {
    Schema::input::<MultiAgentFile>()
}

impl MultiAgentFile {
    /// Reads a document and refuses what no loop can be.
    pub(super) fn of(document: &Value) -> Result<Self> {
        let file = MultiAgentFile::deserialize(document)
            .map_err(|error| refused("", &format!("the loop: {error}")))?;
        file.checked()?;
        Ok(file)
    }

    fn checked(&self) -> Result<()> {
        let fits = |number: u32, most: u32| (1..=most).contains(&number);
        if self.schema_version != SCHEMA {
            return Err(refused("/schema_version", &format!("schema_version must be {SCHEMA}")));
        }
        if !is_name(&self.id) {
            return Err(refused("/id", "an id has 1 to 48 of a-z, 0-9 and -"));
        }
        if self.objective.trim().is_empty() || self.objective.chars().count() > TEXT_CHARS_MAX {
            return Err(refused("/objective", &format!("1 to {TEXT_CHARS_MAX} characters")));
        }
        if !fits(self.rounds.max, ROUNDS_MAX) {
            return Err(refused("/rounds/max", &format!("1 to {ROUNDS_MAX} rounds")));
        }
        if !(1..=LANES_MAX).contains(&self.lanes.len()) {
            return Err(refused("/lanes", &format!("1 to {LANES_MAX} lanes")));
        }
        if !fits(self.messages.max_per_round, MESSAGES_MAX) || self.messages.max_chars > TEXT_CHARS_MAX {
            let why = format!("at most {MESSAGES_MAX} a round, of {TEXT_CHARS_MAX} characters");
            return Err(refused("/messages", &why));
        }
        budget("/budget", &self.budget)?;
        for (n, lane) in self.lanes.iter().enumerate() {
            self.lane(n, lane)?;
        }
        for rule in &self.stop.any {
            let is_known = match rule {
                StopRule::LaneDone(lane) => self.lanes.iter().any(|one| one.id == *lane),
                StopRule::IdleRounds(rounds) => *rounds > 0,
                StopRule::Failures(failures) => *failures > 0,
            };
            if !is_known {
                return Err(refused(
                    "/stop/any",
                    "a lane that does not exist, or a number that is not above 0",
                ));
            }
        }
        Ok(())
    }

    fn lane(&self, n: usize, lane: &Lane) -> Result<()> {
        let at = |member: &str| format!("/lanes/{n}/{member}");
        let mut ids = BTreeSet::new();
        if !is_name(&lane.id) || !self.lanes.iter().all(|one| ids.insert(&one.id)) {
            return Err(refused(&at("id"), "ids of lanes have 1 to 48 of a-z, 0-9 and -, and differ"));
        }
        if let Some(reads) = lane.reads.iter().find(|reads| !self.lanes.iter().any(|one| one.id == **reads)) {
            return Err(refused(&at("reads"), &format!("there is no lane {reads}")));
        }
        if lane.role.chars().count() > TEXT_CHARS_MAX {
            return Err(refused(&at("role"), &format!("at most {TEXT_CHARS_MAX} characters")));
        }
        if lane.connectors.len() > CONNECTORS_MAX || lane.max_restarts > RESTARTS_MAX {
            let why = format!("at most {CONNECTORS_MAX} connectors and {RESTARTS_MAX} restarts");
            return Err(refused(&at("connectors"), &why));
        }
        if lane.worktree.is_some() {
            let why = "lanes work in the folder of their Agent; worktrees are not made here";
            return Err(refused(&at("worktree"), why));
        }
        if lane.budget.wall.is_some() {
            return Err(refused(
                &at("budget/wall"),
                "a time limits the whole loop; give it in its own budget",
            ));
        }
        budget(&at("budget"), &lane.budget)
    }

    /// Milliseconds of the whole loop, if it is limited.
    pub(super) fn wall_ms(&self) -> Option<i64> {
        self.budget.wall.as_deref().and_then(|wall| parse_duration_ms(wall).ok())
    }

    /// What the file asks for and nobody can measure.
    pub(super) fn warnings(&self) -> Vec<String> {
        let has_cost = |budget: &Budget| budget.cost.is_some();
        let any = has_cost(&self.budget) || self.lanes.iter().any(|lane| has_cost(&lane.budget));
        any.then(|| "cost_not_measured".to_owned()).into_iter().collect()
    }
}

fn budget(at: &str, budget: &Budget) -> Result<()> {
    if budget.turns == Some(0) || budget.tokens == Some(0) {
        return Err(refused(at, "a budget is above 0"));
    }
    let wall = budget.wall.as_deref().map(parse_duration_ms).transpose();
    match wall {
        Ok(None) => Ok(()),
        Ok(Some(ms)) if ms > 0 => Ok(()),
        _ => Err(refused(at, "wall is a time such as 2h")),
    }
}

fn is_name(text: &str) -> bool {
    (1..=48).contains(&text.len())
        && !text.starts_with('-')
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

pub(super) fn refused(pointer: &str, why: &str) -> Error {
    Error::new(Code::InvalidInput, why.to_owned()).with_detail("pointer", pointer)
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    pub(in crate::multi_agent) fn example() -> Value {
        json!({
            "schema_version": "loom.multi_agent/v1", "id": "weekly-triage", "objective": "Review the queue",
            "rounds": {"max": 3, "mode": "barrier"}, "budget": {"turns": 40, "wall": "2h", "tokens": 2_000_000},
            "lanes": [
                {"id": "scout", "agent": "a", "role": "Find candidates", "max_restarts": 1},
                {"id": "reviewer", "agent": "b", "reads": ["scout"], "budget": {"turns": 2}},
            ],
            "stop": {"any": [{"lane_done": "reviewer"}, {"idle_rounds": 1}, {"failures": 3}]},
        })
    }

    /// CAP-136: what no loop can be is refused before anything starts, with the place of the fault.
    #[test]
    fn cap_136_a_file_is_checked_whole() {
        assert!(MultiAgentFile::of(&example()).unwrap().warnings().is_empty());
        for (pointer, value, at) in [
            ("/schema_version", json!("loom.multi_agent/v2"), "/schema_version"),
            ("/rounds/max", json!(0), "/rounds/max"),
            ("/budget/turns", json!(0), "/budget"),
            ("/budget/wall", json!("soon"), "/budget"),
            ("/lanes/1/reads", json!(["nobody"]), "/lanes/1/reads"),
            ("/lanes/1/id", json!("scout"), "/lanes/0/id"),
            ("/stop/any", json!([{"lane_done": "nobody"}]), "/stop/any"),
        ] {
            let mut file = example();
            *file.pointer_mut(pointer).unwrap() = value;
            let error = MultiAgentFile::of(&file).unwrap_err();
            assert_eq!((error.code, &error.detail["pointer"]), (Code::InvalidInput, &json!(at)), "{pointer}");
        }
        let mut costly = example();
        costly["budget"]["cost"] = json!({"amount": "5.00", "currency": "USD"});
        assert_eq!(MultiAgentFile::of(&costly).unwrap().warnings(), ["cost_not_measured"]);
        let mut timed = example();
        timed["lanes"][1]["budget"]["wall"] = json!("1h");
        assert_eq!(MultiAgentFile::of(&timed).unwrap_err().detail["pointer"], "/lanes/1/budget/wall");
        costly["lane"] = json!(1);
        assert_eq!(MultiAgentFile::of(&costly).unwrap_err().code, Code::InvalidInput);
    }
}
