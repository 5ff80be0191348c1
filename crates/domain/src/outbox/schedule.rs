//! Waits of tries, settlement and reconnects. Randomness comes in as an argument.

/// Shortest wait that a provider's Retry-After gives, milliseconds.
pub const RETRY_AFTER_MS_MIN: i64 = 1_000;
/// Longest wait that a provider's Retry-After gives, milliseconds.
pub const RETRY_AFTER_MS_MAX: i64 = 3_600_000;
/// Wait after a rate limit without a time, milliseconds.
pub const RATE_LIMITED_MS: i64 = 30_000;
/// Wait after a quota refusal without a time, milliseconds.
pub const QUOTA_MS: i64 = 3_600_000;
/// Wait after a refused credential when nothing changes it, milliseconds.
pub const AUTH_MS: i64 = 15 * 60_000;
/// Lease of a Part in flight, milliseconds.
pub const LEASE_MS: i64 = 60_000;
/// Renewal of that lease, milliseconds.
pub const LEASE_RENEW_MS: i64 = 20_000;
/// Longest time of one step of a send, milliseconds.
pub const STEP_MS_MAX: i64 = 15 * 60_000;
/// Earliest complete "not there" read after the Attempt, milliseconds.
pub const ABSENT_FIRST_MS: i64 = 15_000;
/// Shortest gap between two complete "not there" reads, milliseconds.
pub const ABSENT_GAP_MS: i64 = 10_000;
/// Open Outbox items of an Agent.
pub const OPEN_PER_AGENT_MAX: u32 = 1_000;

const TRY_WAITS_MS: &[i64] =
    &[5_000, 30_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 36_000_000];
const SETTLE_WAITS_MS: &[i64] = &[5_000, 10_000, 45_000, 240_000, 600_000];
const SETTLE_LAST_MS: i64 = 3_600_000;
const SETTLE_TRIES_MAX: u32 = 28;
const RECONNECT_WAITS_MS: &[i64] = &[1_000, 2_000, 5_000, 10_000, 30_000, 60_000];

/// The wait changed by up to 20 % either way, chosen by a random number.
#[must_use]
pub fn jitter(wait_ms: i64, random: u64) -> i64 {
    let per_mille = 800 + i64::try_from(random % 401).unwrap_or(200);
    wait_ms.saturating_mul(per_mille) / 1_000
}

/// A Retry-After brought into its range.
#[must_use]
pub fn clamp_retry_after(wait_ms: i64) -> i64 {
    wait_ms.clamp(RETRY_AFTER_MS_MIN, RETRY_AFTER_MS_MAX)
}

/// Wait after the nth failed try, from 1; none after the 9th.
#[must_use]
pub fn try_wait_ms(failed_tries: u32, retry_after_ms: Option<i64>, random: u64) -> Option<i64> {
    let place = usize::try_from(failed_tries).ok()?.checked_sub(1)?;
    let scheduled = TRY_WAITS_MS.get(place)?;
    Some(retry_after_ms.map_or_else(|| jitter(*scheduled, random), clamp_retry_after))
}

/// Wait before the next settlement try after `tries` of them: tries fall at 5 s, 15 s, 60 s, 5 m, 15 m, then
/// hourly up to 24 h.
#[must_use]
pub fn settle_wait_ms(tries: u32) -> Option<i64> {
    if tries >= SETTLE_TRIES_MAX {
        return None;
    }
    let place = usize::try_from(tries).ok()?;
    Some(SETTLE_WAITS_MS.get(place).copied().unwrap_or(SETTLE_LAST_MS))
}

/// Wait before the nth reconnect in a row, from 1.
#[must_use]
pub fn reconnect_wait_ms(attempt: u32, random: u64) -> i64 {
    let place = usize::try_from(attempt).unwrap_or(usize::MAX).saturating_sub(1);
    let last = RECONNECT_WAITS_MS.last().copied().unwrap_or(60_000);
    jitter(RECONNECT_WAITS_MS.get(place).copied().unwrap_or(last), random)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tries_end_with_the_ninth_and_settlement_within_a_day() {
        assert_eq!((try_wait_ms(0, None, 0), try_wait_ms(9, None, 0)), (None, None));
        assert_eq!(try_wait_ms(1, None, 200), Some(5_000));
        assert_eq!(try_wait_ms(1, Some(1), 0), Some(RETRY_AFTER_MS_MIN));
        assert_eq!(try_wait_ms(8, Some(i64::MAX), 0), Some(RETRY_AFTER_MS_MAX));
        let mut at_ms = 0;
        let mut times = Vec::new();
        while let Some(wait_ms) = settle_wait_ms(u32::try_from(times.len()).unwrap()) {
            at_ms += wait_ms;
            times.push(at_ms / 1_000);
        }
        assert_eq!(times[..6], [5, 15, 60, 300, 900, 4_500]);
        assert!(at_ms <= 86_400_000 && at_ms > 82_800_000);
    }

    proptest! {
        #[test]
        fn jitter_stays_within_a_fifth(wait in 0i64..40_000_000, random: u64) {
            let jittered = jitter(wait, random);
            prop_assert!(jittered >= wait * 8 / 10 && jittered <= wait * 12 / 10);
        }

        #[test]
        fn reconnects_never_stop_and_never_exceed_72_s(attempt: u32, random: u64) {
            let wait = reconnect_wait_ms(attempt, random);
            prop_assert!((800..=72_000).contains(&wait));
        }
    }
}
