//! Medians and the like.

use std::time::Duration;

/// The smallest value below which the share of all lies.
pub(crate) fn quantile(values: &[Duration], share: f64) -> Duration {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let wanted = share * count(sorted.len());
    let place = (1..=sorted.len()).find(|n| count(*n) >= wanted).unwrap_or(sorted.len());
    place.checked_sub(1).and_then(|at| sorted.get(at).copied()).unwrap_or_default()
}

/// The middle value.
pub(crate) fn median(values: &[Duration]) -> Duration {
    quantile(values, 0.5)
}

/// A count as a number with a fraction.
pub(crate) fn count(n: usize) -> f64 {
    u32::try_from(n).map_or(f64::from(u32::MAX), f64::from)
}

/// Milliseconds with a fraction.
pub(crate) fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_occurred() {
        let values: Vec<Duration> = (1..=100).rev().map(Duration::from_millis).collect();
        assert_eq!(median(&values), Duration::from_millis(50));
        assert_eq!(quantile(&values, 0.99), Duration::from_millis(99));
        assert_eq!(quantile(&[], 0.5), Duration::ZERO);
    }
}
