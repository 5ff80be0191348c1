//! Profiles: which sources a report tells of, and of which window when none is asked for.

use loom_domain::{Error, Result};
use serde::{Deserialize, Serialize};

/// A source of a report, in the order in which they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Connections and gateways.
    Connections,
    /// Deliveries.
    Deliveries,
    /// Inbox items and refusals.
    Inbox,
    /// Queues of Agents.
    Queues,
    /// Connectors.
    Connectors,
    /// Queues of pull requests.
    PrQueues,
    /// Turns.
    Turns,
    /// The most frequent failures.
    Failures,
    /// Tokens and money.
    Costs,
    /// The integration branch.
    Branch,
    /// The registry of extensions.
    Registry,
    /// Updates of the program.
    Updates,
}

impl Source {
    /// All of them.
    pub const ALL: [Source; 12] = [
        Source::Connections,
        Source::Deliveries,
        Source::Inbox,
        Source::Queues,
        Source::Connectors,
        Source::PrQueues,
        Source::Turns,
        Source::Failures,
        Source::Costs,
        Source::Branch,
        Source::Registry,
        Source::Updates,
    ];
}

/// What a report is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Its sources.
    pub sources: Vec<Source>,
    /// Its window when none is asked for.
    #[serde(default = "last_7d")]
    pub window: String,
}

fn last_7d() -> String {
    "last-7d".to_owned()
}

impl Profile {
    /// Names of the built-in ones.
    pub const BUILTIN: [&str; 3] = ["daily", "weekly", "connectors"];

    /// A built-in profile.
    pub fn builtin(name: &str) -> Option<Profile> {
        let (sources, window): (&[Source], &str) = match name {
            "daily" => (
                &[
                    Source::Connections,
                    Source::Deliveries,
                    Source::Inbox,
                    Source::Queues,
                    Source::Turns,
                    Source::Failures,
                ],
                "yesterday",
            ),
            "weekly" => (&Source::ALL, "last-7d"),
            "connectors" => (
                &[Source::Connectors, Source::PrQueues, Source::Failures, Source::Costs, Source::Registry],
                "last-7d",
            ),
            _ => return None,
        };
        Some(Profile { name: name.to_owned(), sources: sources.to_vec(), window: window.to_owned() })
    }

    /// The profile of a name: one of the owner's, else a built-in one.
    pub fn named(name: &str, own: &std::collections::BTreeMap<String, Profile>) -> Result<Profile> {
        if let Some(profile) = own.get(name) {
            return Ok(Profile { name: name.to_owned(), ..profile.clone() });
        }
        Profile::builtin(name).ok_or_else(|| {
            let known: Vec<&str> =
                Profile::BUILTIN.iter().copied().chain(own.keys().map(String::as_str)).collect();
            Error::invalid("profile", format!("expected one of {}", known.join(", ")))
        })
    }

    pub(crate) fn tells(&self, source: Source) -> bool {
        self.sources.contains(&source)
    }
}
