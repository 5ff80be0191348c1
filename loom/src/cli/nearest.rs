//! Finds the word a mistyped one was meant to be.

use loom_domain::text::edit_distance;

/// Words up to this length are near with one changed letter only.
const SHORT_CHARS: usize = 3;

/// The candidate with the fewest changed letters, when at most two or a third of them differ.
pub(crate) fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let best = candidates.map(|candidate| (edit_distance(word, candidate), candidate)).min()?;
    let longest = word.chars().count().max(best.1.chars().count());
    let limit = if longest <= SHORT_CHARS { 1 } else { (longest / 3).max(2) };
    (best.0 <= limit).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let flags = ["async", "body", "body-file", "timeout"];
        assert_eq!(nearest("asnyc", flags.into_iter()), Some("async"));
        assert_eq!(nearest("tiemout", flags.into_iter()), Some("timeout"));
        assert_eq!(nearest("xyzzy-plugh", flags.into_iter()), None);
    }
}
