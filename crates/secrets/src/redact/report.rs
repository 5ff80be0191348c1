//! What was masked: rules and counts, never values, lengths or neighbours.

use std::collections::BTreeMap;

use crate::Rule;

/// Most pointers that a report lists.
const POINTERS_MAX: usize = 256;

/// Counts of hits by rule, with JSON pointers where there are any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    counts: BTreeMap<Rule, u64>,
    pointers: Vec<(String, Rule)>,
}

impl Report {
    /// Rules with their counts.
    pub fn counts(&self) -> impl Iterator<Item = (Rule, u64)> + '_ {
        self.counts.iter().map(|(rule, count)| (*rule, *count))
    }

    /// JSON pointers of the first hits.
    pub fn pointers(&self) -> &[(String, Rule)] {
        &self.pointers
    }

    /// Whether nothing was masked.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Whether a secret was masked, and not only a private fact.
    pub fn holds_secret(&self) -> bool {
        self.counts.keys().any(|rule| rule.is_secret())
    }

    pub(super) fn count(&mut self, rule: Rule) {
        *self.counts.entry(rule).or_default() += 1;
    }

    pub(super) fn point(&mut self, pointer: &str, rule: Rule) {
        if self.pointers.len() < POINTERS_MAX {
            self.pointers.push((pointer.to_owned(), rule));
        }
    }
}
