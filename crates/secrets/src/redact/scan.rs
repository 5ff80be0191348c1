//! All hits of a text, in order.

use std::collections::BTreeSet;

use super::exact::{Found, Index};
use super::patterns::{HEAD_BYTES_MAX, Hits, RawHit, Tail};
use super::{Hit, anchors, joined, marker};
use crate::{Profile, Rule, Secret};

/// The registered values and exemptions at one moment.
#[derive(Debug, Default)]
pub(super) struct Engine {
    index: Index,
    typed_paths: BTreeSet<String>,
}

impl Engine {
    pub(super) fn new(values: &[Secret], typed_paths: BTreeSet<String>) -> Self {
        Engine { index: Index::new(values.iter()), typed_paths }
    }

    /// Bytes after a place that decide whether a hit begins there.
    pub(super) fn overlap_bytes(&self) -> usize {
        HEAD_BYTES_MAX.max(joined::broken_bytes(self.index.longest()))
    }

    /// All hits in order of their start; they may overlap. Of those at one place the most telling rule is the
    /// first: where a hit ends may not be known yet.
    pub(super) fn raw_hits(&self, text: &[u8], profile: Profile) -> Vec<RawHit> {
        let mut hits = Hits::default();
        anchors::find(text, profile, &mut hits);
        self.exact_hits(text, &mut hits);
        let mut list = hits.list;
        list.retain(|hit| !self.is_exempt(text, hit));
        list.sort_by_key(|hit| (hit.start, hit.rule));
        list
    }

    /// Whether a registered value stands in the text; the patterns are not looked for.
    pub(super) fn holds_exact(&self, text: &[u8]) -> bool {
        !self.exact(text).is_empty()
    }

    /// Where registered values stand in the text.
    pub(super) fn exact(&self, text: &[u8]) -> Vec<RawHit> {
        let mut hits = Hits::default();
        self.exact_hits(text, &mut hits);
        hits.list.retain(|hit| !self.is_exempt(text, hit));
        hits.list
    }

    fn exact_hits(&self, text: &[u8], hits: &mut Hits) {
        if self.index.longest() == 0 {
            return;
        }
        let mut found = Vec::new();
        self.index.find(text, &mut found);
        joined::find(text, &self.index, &mut found);
        for hit in found {
            let hit = widened(text, hit);
            hits.add_closed(Rule::ExactSecret, hit.start, hit.end);
        }
    }

    /// Hits in the markers of an earlier run are none, and paths that the user typed are no news.
    fn is_exempt(&self, text: &[u8], hit: &RawHit) -> bool {
        let inside = |(start, end): (usize, usize)| start < hit.start || end > hit.end;
        let at_start = marker::around(text, hit.start).is_some_and(inside);
        let at_end = hit.rule == Rule::ExactSecret
            && hit.end.checked_sub(1).and_then(|at| marker::around(text, at)).is_some_and(inside);
        at_start || at_end || (hit.rule == Rule::LocalPath && self.is_typed(text, hit))
    }

    fn is_typed(&self, text: &[u8], hit: &RawHit) -> bool {
        let here = text.get(hit.start..hit.end).and_then(|path| std::str::from_utf8(path).ok());
        here.is_some_and(|path| self.typed_paths.contains(path))
    }
}

/// Takes in the base64 characters at the borders that carry some bits of the value, and the padding.
pub(super) fn widened(text: &[u8], found: Found) -> Found {
    let is_base64 = |at: usize| {
        text.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_'))
    };
    let before = found.before && found.start.checked_sub(1).is_some_and(is_base64);
    let mut end = found.end + usize::from(found.after && is_base64(found.end));
    let padding = text.iter().skip(end).take(2).take_while(|byte| **byte == b'=').count();
    if found.after {
        end += padding;
    }
    Found { start: found.start - usize::from(before), end, before: false, after: false }
}

/// A stretch of text that one marker replaces.
#[derive(Debug)]
pub(super) struct Span {
    pub(super) rule: Rule,
    pub(super) start: usize,
    pub(super) end: usize,
    /// What still belongs to the span when more text comes; it ends with the longest of them.
    open: Vec<Tail>,
    /// How the value of a name goes on, after whatever was found in it: the name stays, so a second run would
    /// find the rest.
    value: Tail,
}

impl Span {
    pub(super) fn new(hit: &RawHit) -> Self {
        let open = if hit.is_open { vec![hit.tail] } else { Vec::new() };
        Span { rule: hit.rule, start: hit.start, end: hit.end, open, value: value_tail(hit) }
    }

    /// Whether the span goes on when more text comes.
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Whether the hit begins inside.
    pub(super) fn covers_start(&self, hit: &RawHit) -> bool {
        hit.start < self.end
    }

    /// Takes in an overlapping hit; an exact value names the whole.
    pub(super) fn absorb(&mut self, text: &[u8], hit: &RawHit) {
        if hit.rule == Rule::ExactSecret {
            self.rule = hit.rule;
        }
        if hit.start == self.start && matches!(self.value, Tail::None) {
            self.value = value_tail(hit);
        }
        if hit.is_open && !self.open.iter().any(|known| known.is_same(hit.tail)) {
            self.open.push(hit.tail);
        }
        self.end = self.end.max(hit.end);
        self.follow_value(text);
    }

    /// Follows what was open when the text ended.
    pub(super) fn follow(&mut self, text: &[u8]) {
        let from = self.end;
        self.open.retain(|tail| {
            let (end, is_open) = tail.follow(text, from);
            self.end = self.end.max(end);
            is_open
        });
        self.follow_value(text);
    }

    fn follow_value(&mut self, text: &[u8]) {
        if self.open.is_empty() {
            let (end, is_open) = self.value.follow(text, self.end);
            self.end = end;
            self.open.extend(is_open.then_some(self.value));
        }
    }
}

fn value_tail(hit: &RawHit) -> Tail {
    if hit.rule.is_named() { hit.tail } else { Tail::None }
}

/// Puts overlapping hits together.
pub(super) fn merged(text: &[u8], raw: &[RawHit]) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    let mut span: Option<Span> = None;
    for hit in raw {
        match &mut span {
            Some(span) if span.covers_start(hit) => span.absorb(text, hit),
            _ => {
                hits.extend(span.take().map(|span| Hit::of(&span)));
                span = Some(Span::new(hit));
            }
        }
    }
    hits.extend(span.map(|span| Hit::of(&span)));
    hits
}
