//! Where to cut.

use unicode_segmentation::UnicodeSegmentation;

use super::Chunk;
use super::lines::Lines;
use crate::Limit;
use crate::fence::looks_like_fence;

/// Longest control token or entity that is kept in one piece.
const ATOM_BYTES_MAX: usize = 40;

/// Text read behind the window to find boundaries at its end.
const LOOK_AHEAD_BYTES: usize = 256;

/// Kinds of place to cut at, best first.
#[derive(Clone, Copy)]
enum Level {
    Paragraph,
    Line,
    Sentence,
    Word,
    Grapheme,
    Char,
}

const LEVELS: [Level; 6] =
    [Level::Paragraph, Level::Line, Level::Sentence, Level::Word, Level::Grapheme, Level::Char];

/// Cuts one chunk after another from a text.
pub(super) struct Cutter<'a> {
    text: &'a str,
    limit: Limit,
    lines: Lines,
    at: usize,
}

impl<'a> Cutter<'a> {
    pub(super) fn new(text: &'a str, limit: Limit) -> Self {
        Cutter { text, limit, lines: Lines::read(text, limit), at: 0 }
    }

    /// The next chunk, or none at the end.
    pub(super) fn next_chunk(&mut self) -> Option<Chunk> {
        if self.at >= self.text.len() {
            return None;
        }
        let head = self.lines.fence_at(self.at).map(crate::fence::Fence::open_line).unwrap_or_default();
        let end = self.end_of_chunk(&head);
        let body = self.text.get(self.at..end)?;
        let tail = self.tail(body, end);
        self.at = end;
        Some(Chunk { head: head.len(), tail: tail.len(), text: format!("{head}{body}{tail}") })
    }

    fn end_of_chunk(&self, head: &str) -> usize {
        if self.fits(head, self.text.len()) {
            return self.text.len();
        }
        let window = self.window(head);
        LEVELS
            .into_iter()
            .find_map(|level| {
                let places = self.places(level, window);
                places.into_iter().rev().find(|end| self.is_good(level, *end) && self.fits(head, *end))
            })
            .unwrap_or(window)
    }

    /// The furthest offset that could fit without a closing fence.
    fn window(&self, head: &str) -> usize {
        let mut size = self.limit.unit.of(head);
        let rest = self.text.get(self.at..).unwrap_or("");
        for (offset, c) in rest.char_indices() {
            size += self.limit.unit.of_char(c);
            // The first character is always taken, so that the cutter moves on.
            if size > self.limit.size() && offset > 0 {
                return self.at + offset;
            }
        }
        self.text.len()
    }

    fn fits(&self, head: &str, end: usize) -> bool {
        let unit = self.limit.unit;
        let body = self.text.get(self.at..end).unwrap_or("");
        unit.of(head) + unit.of(body) + unit.of(&self.tail(body, end)) <= self.limit.size()
    }

    fn tail(&self, body: &str, end: usize) -> String {
        match self.lines.fence_at(end) {
            Some(fence) if body.ends_with('\n') => fence.close_line(),
            Some(fence) => format!("\n{}", fence.close_line()),
            None => String::new(),
        }
    }

    fn places(&self, level: Level, window: usize) -> Vec<usize> {
        let body = self.text.get(self.at..self.look_ahead(window)).unwrap_or("");
        let lines = || self.lines.within(self.at, window).iter().filter(|line| line.end <= window);
        let ends: Vec<usize> = match level {
            Level::Paragraph => {
                return lines()
                    .filter(|line| line.is_blank && line.after.is_none())
                    .map(|line| line.end)
                    .collect();
            }
            Level::Line => return lines().map(|line| line.end).collect(),
            Level::Sentence => body.split_sentence_bound_indices().map(|(at, _)| at).collect(),
            Level::Word => word_starts(body),
            Level::Grapheme => body.grapheme_indices(true).map(|(at, _)| at).collect(),
            Level::Char => body.char_indices().map(|(at, _)| at).collect(),
        };
        ends.into_iter().filter(|at| *at > 0).map(|at| self.at + at).take_while(|at| *at <= window).collect()
    }

    /// A little text after the window tells whether its end is a boundary.
    fn look_ahead(&self, window: usize) -> usize {
        self.text.floor_char_boundary(window + LOOK_AHEAD_BYTES)
    }

    fn is_good(&self, level: Level, end: usize) -> bool {
        match level {
            Level::Paragraph => true,
            Level::Line => !self.leaves_empty_fence(end),
            Level::Char => self.is_outside_fence_lines(end),
            Level::Sentence | Level::Word | Level::Grapheme => {
                self.is_outside_fence_lines(end) && self.makes_no_fence(end) && !self.breaks_atom(end)
            }
        }
    }

    /// A cut just after an opening or just before a closing fence line would show an empty block.
    fn leaves_empty_fence(&self, end: usize) -> bool {
        let is_after_opening = self
            .lines
            .within(end.saturating_sub(1), end)
            .last()
            .is_some_and(|l| l.is_fence && l.after.is_some());
        let is_before_closing = self.lines.starting_at(end).is_some_and(|l| l.is_fence && l.after.is_none());
        is_after_opening || is_before_closing
    }

    fn is_outside_fence_lines(&self, end: usize) -> bool {
        self.lines.around(end).is_none_or(|line| !line.is_fence)
    }

    /// Neither half of a cut line may read as a fence line.
    fn makes_no_fence(&self, end: usize) -> bool {
        self.lines.around(end).is_none_or(|line| {
            let front = self.text.get(line.start.max(self.at)..end).unwrap_or("");
            let back = self.text.get(end..line.end).unwrap_or("");
            !looks_like_fence(front) && !looks_like_fence(back)
        })
    }

    /// Whether the cut falls into `&lt;` or `<@U1>`.
    fn breaks_atom(&self, end: usize) -> bool {
        let from = self.text.ceil_char_boundary(end.saturating_sub(ATOM_BYTES_MAX).max(self.at));
        let front = self.text.get(from..end).unwrap_or("");
        let back = self.text.get(end..).unwrap_or("");
        let closes = |open: char, close: char| {
            front.rfind(open).and_then(|at| front.get(at..)).is_some_and(|part| {
                !part.contains(close)
                    && !part.contains(char::is_whitespace)
                    && back
                        .chars()
                        .take(ATOM_BYTES_MAX)
                        .take_while(|c| !c.is_whitespace())
                        .any(|c| c == close)
            })
        };
        closes('&', ';') || closes('<', '>')
    }
}

/// Offsets after each run of white space.
fn word_starts(body: &str) -> Vec<usize> {
    let mut was_space = false;
    let mut starts = Vec::new();
    for (at, c) in body.char_indices() {
        if was_space && !c.is_whitespace() {
            starts.push(at);
        }
        was_space = c.is_whitespace();
    }
    starts
}
