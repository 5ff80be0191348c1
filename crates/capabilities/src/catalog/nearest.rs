//! Ids that a mistyped one may have meant.

use loom_domain::text::edit_distance;

/// Most ids that are named.
const NEAREST_MAX: usize = 5;
/// Most letters that may differ.
const DISTANCE_MAX: usize = 3;
/// Letters that a prefix must share to be near.
const PREFIX_CHARS_MIN: usize = 4;

/// At most five ids with three or fewer letters changed, or with the same beginning; the nearest first.
pub(super) fn ids<'a>(wanted: &str, words: impl Iterator<Item = (&'a str, String)>) -> Vec<String> {
    let mut near: Vec<(usize, usize, String)> = words
        .filter_map(|(word, id)| {
            let (changed, shared) = (edit_distance(wanted, word), shared_prefix(wanted, word));
            let is_near = changed <= DISTANCE_MAX || shared >= PREFIX_CHARS_MIN;
            is_near.then_some((changed, usize::MAX - shared, id))
        })
        .collect();
    near.sort();
    let mut ids: Vec<String> = Vec::new();
    for (_, _, id) in near {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids.truncate(NEAREST_MAX);
    ids
}

fn shared_prefix(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count()
}
