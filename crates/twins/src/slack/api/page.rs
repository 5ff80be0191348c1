//! Cursor paging.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Failure;
use crate::slack::params::Params;

/// Largest page Slack hands out.
const LIMIT_MAX: usize = 999;

/// The page size asked for, within bounds.
pub(super) fn limit(params: &Params, default: usize) -> usize {
    params.number("limit").filter(|n| *n > 0).unwrap_or(default).min(LIMIT_MAX)
}

/// The mark inside the cursor, if one was given.
pub(super) fn mark(params: &Params) -> Result<Option<String>, Failure> {
    let Some(cursor) = params.text("cursor") else { return Ok(None) };
    let decoded = STANDARD.decode(cursor).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let mark = decoded.as_deref().and_then(|text| text.strip_prefix("next:")).map(str::to_owned);
    mark.map(Some).ok_or_else(|| "invalid_cursor".into())
}

/// The cursor that leads to the mark.
pub(super) fn cursor(mark: &str) -> String {
    STANDARD.encode(format!("next:{mark}"))
}

/// One page of a list whose items are named by `key`; the cursor is empty on the last page.
pub(super) fn page<T: Clone>(
    items: &[T],
    params: &Params,
    default: usize,
    key: impl Fn(&T) -> String,
) -> Result<(Vec<T>, String), Failure> {
    let start = match mark(params)? {
        None => 0,
        Some(mark) => items.iter().position(|i| key(i) == mark).ok_or("invalid_cursor")?,
    };
    let end = start.saturating_add(limit(params, default));
    let next = items.get(end).map(|i| cursor(&key(i))).unwrap_or_default();
    Ok((items.iter().skip(start).take(end - start).cloned().collect(), next))
}
