//! Finds the word a mistyped one was meant to be.

/// Words up to this length are near with one changed letter only.
const SHORT_CHARS: usize = 3;

/// The candidate with the fewest changed letters, when at most two or a third of them differ.
pub(crate) fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let best = candidates.map(|candidate| (distance(word, candidate), candidate)).min()?;
    let longest = word.chars().count().max(best.1.chars().count());
    let limit = if longest <= SHORT_CHARS { 1 } else { (longest / 3).max(2) };
    (best.0 <= limit).then_some(best.1)
}

/// Letters to insert, remove or replace.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut left = i + 1;
        let mut next = vec![left];
        for (y, pair) in b.iter().zip(row.windows(2)) {
            let &[diagonal, above] = pair else { continue };
            left = (diagonal + usize::from(x != *y)).min(above + 1).min(left + 1);
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
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
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
