//! The marks `[redacted:RULE]` in a text that was redacted before.

use crate::Rule;

const OPENING: &[u8] = b"[redacted:";
/// Longest marker.
pub(super) const MARKER_BYTES_MAX: usize = 40;

/// Length of the marker at the place.
pub(super) fn at(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    if !rest.starts_with(OPENING) {
        return None;
    }
    Rule::ALL
        .iter()
        .map(|rule| rule.marker())
        .find(|marker| rest.starts_with(marker.as_bytes()))
        .map(str::len)
}

/// Start of the marker that ends at the place.
pub(super) fn ending_at(text: &[u8], end: usize) -> Option<usize> {
    let (start, marker_end) = around(text, end.checked_sub(1)?)?;
    (marker_end == end).then_some(start)
}

/// The marker that covers the byte at the place.
pub(super) fn around(text: &[u8], place: usize) -> Option<(usize, usize)> {
    let from = place.saturating_sub(MARKER_BYTES_MAX);
    let before = text.get(from..=place)?;
    let start = from + before.iter().rposition(|byte| *byte == b'[')?;
    let end = start + at(text, start)?;
    (place < end).then_some((start, end))
}
