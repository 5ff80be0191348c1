//! Finds forms that are broken over lines, as encoders do at 60 to 80 columns.
//!
//! Lines of that length are put together without their breaks and searched again. A break is a line feed,
//! with or without a carriage return, raw or escaped, with the indentation of the next line.

use super::exact::{Found, Index};

const COLUMNS_MIN: usize = 60;
/// The first line may have a key before the value.
const COLUMNS_MAX: usize = 128;
const INDENT_MAX: usize = 16;
/// Longest break: two escaped characters, some backslashes each, and the indentation.
const BREAK_BYTES_MAX: usize = 8 + INDENT_MAX;
/// Joined bytes that are searched at once.
const JOINED_BYTES: usize = 64 * 1024;

/// Bytes of text that a broken form of the length may cover.
pub(super) fn broken_bytes(form: usize) -> usize {
    form + (form / COLUMNS_MIN + 2) * BREAK_BYTES_MAX + COLUMNS_MAX
}

/// Reports every form that crosses a break.
pub(super) fn find(text: &[u8], index: &Index, found: &mut Vec<Found>) {
    let mut lines = Lines { text, index, joined: Vec::new(), pieces: Vec::new() };
    let (mut line, mut open, mut from) = (0, false, 0);
    while let Some((start, end)) = next_break(text, from) {
        let columns = start.saturating_sub(line);
        let wrapped = (COLUMNS_MIN..=COLUMNS_MAX).contains(&columns);
        if wrapped && may_cross(text, index, start, end) {
            lines.append(line, start, found);
            open = true;
        } else if open {
            lines.close(line, start, found);
            open = false;
        }
        (line, from) = (end, end);
    }
    if open {
        lines.close(line, text.len(), found);
    }
}

fn may_cross(text: &[u8], index: &Index, start: usize, end: usize) -> bool {
    let (before, after) = (text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default());
    index.may_cross(before, after, COLUMNS_MIN)
}

/// Start and end of the next break.
fn next_break(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    loop {
        let start = at + memchr::memchr2(b'\n', b'\\', text.get(at..)?)?;
        match break_end(text, start) {
            Ok(end) => {
                let indent = text.iter().skip(end).take(INDENT_MAX).take_while(|b| matches!(b, b' ' | b'\t'));
                let returned = start > from && text.get(start - 1) == Some(&b'\r');
                return Some((start - usize::from(returned), end + indent.count()));
            }
            Err(next) => at = next,
        }
    }
}

/// End of the break at the place, or where to look next.
fn break_end(text: &[u8], start: usize) -> Result<usize, usize> {
    if text.get(start) == Some(&b'\n') {
        return Ok(start + 1);
    }
    let slashes = |at: usize| text.iter().skip(at).take_while(|byte| **byte == b'\\').count();
    let letter = start + slashes(start);
    match text.get(letter) {
        Some(b'n') => Ok(letter + 1),
        Some(b'r') => {
            let second = letter + 1 + slashes(letter + 1);
            let both = second > letter + 1 && text.get(second) == Some(&b'n');
            if both { Ok(second + 1) } else { Err(letter + 1) }
        }
        _ => Err(letter),
    }
}

struct Lines<'a> {
    text: &'a [u8],
    index: &'a Index,
    joined: Vec<u8>,
    /// Where each line begins in `joined` and in the text.
    pieces: Vec<(usize, usize)>,
}

impl Lines<'_> {
    fn append(&mut self, start: usize, end: usize, found: &mut Vec<Found>) {
        if self.joined.len() > JOINED_BYTES.max(4 * self.index.longest()) {
            self.search(found);
            self.keep_end();
        }
        self.pieces.push((self.joined.len(), start));
        self.joined.extend_from_slice(self.text.get(start..end).unwrap_or_default());
    }

    /// Appends the beginning of the line after the last break, and searches.
    fn close(&mut self, start: usize, end: usize, found: &mut Vec<Found>) {
        let end = end.min(start + self.index.longest() + 4);
        self.append(start, end, found);
        self.search(found);
        self.joined.clear();
        self.pieces.clear();
    }

    fn search(&self, found: &mut Vec<Found>) {
        let mut here = Vec::new();
        self.index.find(&self.joined, &mut here);
        for hit in here {
            let hit = super::scan::widened(&self.joined, hit);
            let (Some(first), Some(last)) = (self.piece(hit.start), self.piece(hit.end.saturating_sub(1)))
            else {
                continue;
            };
            if first != last {
                let start = first.1 + (hit.start - first.0);
                let end = last.1 + (hit.end - last.0);
                found.push(Found { start, end, before: false, after: false });
            }
        }
    }

    fn piece(&self, at: usize) -> Option<(usize, usize)> {
        let after = self.pieces.partition_point(|piece| piece.0 <= at);
        self.pieces.get(after.checked_sub(1)?).copied()
    }

    /// Keeps the lines that a form may still cross into.
    fn keep_end(&mut self) {
        let wanted = self.joined.len().saturating_sub(self.index.longest() + 4);
        let first = self.pieces.partition_point(|piece| piece.0 <= wanted).saturating_sub(1);
        let from = self.pieces.get(first).map_or(0, |piece| piece.0);
        self.pieces.drain(..first);
        self.joined.drain(..from);
        for piece in &mut self.pieces {
            piece.0 -= from;
        }
    }
}
