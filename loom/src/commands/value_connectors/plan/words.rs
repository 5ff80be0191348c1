//! Flags of a plan itself, wherever they stand among those of an operation.

use std::collections::BTreeMap;

use clap::{Args as _, FromArgMatches as _};
use loom_domain::{Code, Error, Result};

/// Flags of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub(super) struct Own {
    /// Store the plan in the hub and open its gates
    #[arg(long)]
    pub(super) submit: bool,
    /// What it is for
    #[arg(long, value_name = "T")]
    pub(super) objective: Option<String>,
    /// As whom it is sent
    #[arg(long, value_name = "T")]
    pub(super) sender_identity: Option<String>,
    /// Key that a provider tells repeats by
    #[arg(long, value_name = "K")]
    pub(super) idempotency_key: Option<String>,
    /// Note: where it appears
    #[arg(long, value_name = "T")]
    channel: Option<String>,
    /// Note: stage
    #[arg(long, value_name = "T")]
    stage: Option<String>,
    /// Note: whom it is for
    #[arg(long, value_name = "T")]
    audience: Option<String>,
    /// Note: what it is worth
    #[arg(long, value_name = "T")]
    value_axis: Option<String>,
    /// Note: how success is seen
    #[arg(long, value_name = "T")]
    success_metric: Option<String>,
    /// Note: what it costs or earns
    #[arg(long, value_name = "T")]
    money_metric: Option<String>,
    /// Note: when to stop
    #[arg(long, value_name = "T")]
    kill_condition: Option<String>,
    /// Note: address of the place
    #[arg(long, value_name = "T")]
    target_url: Option<String>,
    /// Note: that a write was asked for
    #[arg(long, value_name = "T", num_args = 0..=1, default_missing_value = "yes")]
    external_write_requested: Option<String>,
}

impl Own {
    /// These flags with those among the words of the operation, which count more.
    pub(super) fn merged(&self, words: &[String]) -> Result<Own> {
        let (own, _) = split(words);
        if own.is_empty() {
            return Ok(self.clone());
        }
        let command = Own::augment_args(clap::Command::new("plan").no_binary_name(true));
        let matches = command.try_get_matches_from(own).map_err(|error| {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            Error::new(Code::Usage, first)
        })?;
        let mut merged = self.clone();
        merged
            .update_from_arg_matches(&matches)
            .map_err(|error| Error::new(Code::Usage, error.to_string()))?;
        merged.submit |= self.submit;
        Ok(merged)
    }

    /// The notes that were given, by name.
    pub(super) fn notes(&self) -> BTreeMap<String, String> {
        let all = [
            ("channel", &self.channel),
            ("stage", &self.stage),
            ("audience", &self.audience),
            ("value_axis", &self.value_axis),
            ("success_metric", &self.success_metric),
            ("money_metric", &self.money_metric),
            ("kill_condition", &self.kill_condition),
            ("target_url", &self.target_url),
            ("external_write_requested", &self.external_write_requested),
        ];
        let given = all.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text.clone()?)));
        given.collect()
    }
}

/// The words without the flags of the plan.
pub(super) fn without_own(words: &[String]) -> Vec<String> {
    split(words).1
}

/// The flags of the plan, and all other words.
fn split(words: &[String]) -> (Vec<String>, Vec<String>) {
    let command = Own::augment_args(clap::Command::new("plan"));
    let known = |word: &str| {
        let name = word.strip_prefix("--")?.split('=').next()?.to_owned();
        command.get_arguments().find(|arg| arg.get_long() == Some(name.as_str()))
    };
    let (mut own, mut rest) = (Vec::new(), Vec::new());
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let Some(arg) = known(word) else {
            rest.push(word.clone());
            continue;
        };
        own.push(word.clone());
        let takes = arg.get_num_args().is_none_or(|range| range.max_values() > 0) && !word.contains('=');
        let is_switch = matches!(arg.get_action(), clap::ArgAction::SetTrue);
        let is_optional = arg.get_id() == "external_write_requested";
        if takes && !is_switch && words.peek().is_some_and(|next| !is_optional || !next.starts_with("--")) {
            own.extend(words.next().cloned());
        }
    }
    (own, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    /// CAP-119: notes are optional, and stand anywhere.
    #[test]
    fn cap_119_flags_of_the_plan_stand_anywhere() {
        let line = words(
            "--ticket 7 --submit --text hi --stage beta --external-write-requested --api-url u --audience=all",
        );
        assert_eq!(without_own(&line), words("--ticket 7 --text hi --api-url u"));
        let own = Own { objective: Some("o".to_owned()), ..Own::default() }.merged(&line).unwrap();
        assert!(own.submit && own.objective.as_deref() == Some("o"));
        let notes = own.notes();
        assert_eq!(notes["stage"], "beta");
        assert_eq!((notes["external_write_requested"].as_str(), notes["audience"].as_str()), ("yes", "all"));
        assert_eq!(Own::default().merged(&words("--ticket 7")).unwrap(), Own::default());
        assert!(Own::default().merged(&words("--stage")).is_err());
    }
}
