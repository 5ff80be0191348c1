//! Limits and retry schedules of Inbox items (messaging specification 4.2, 4.3, 4.5).

/// Longest note, bytes.
pub const NOTE_BYTES_MAX: usize = 2_000;
/// Longest deferral, milliseconds (30 days).
pub const DEFER_MS_MAX: i64 = 30 * 86_400_000;
/// Default age at which a queued item expires, milliseconds (72 hours).
pub const QUEUE_AGE_MS_MAX: i64 = 72 * 3_600_000;
/// Starts in a row that lead to no Turn before the item fails.
pub const STARTS_MAX: u32 = 6;
/// Attempts after which a failed Turn is not tried again by itself.
pub const ATTEMPTS_MAX: u32 = 3;
/// Time after which an unreachable runtime leaves the fate unknown, milliseconds.
pub const RECONCILE_MS_MAX: i64 = 10 * 60_000;

const START_WAITS_MS: &[i64] = &[5_000, 30_000, 120_000, 600_000, 1_800_000];
const TURN_WAITS_MS: &[i64] = &[30_000, 300_000];
const RECONCILE_WAITS_MS: &[i64] = &[1_000, 2_000, 5_000, 10_000, 30_000];
const RECONCILE_LAST_MS: i64 = 60_000;

fn wait(schedule: &[i64], n: u32) -> Option<i64> {
    let place = usize::try_from(n).ok()?.checked_sub(1)?;
    schedule.get(place).copied()
}

/// Wait after the nth start in a row that led to no Turn, from 1; none after the last.
#[must_use]
pub fn start_retry_ms(n: u32) -> Option<i64> {
    wait(START_WAITS_MS, n)
}

/// Wait after the nth Attempt failed with a class that may pass, from 1; none after the last.
#[must_use]
pub fn turn_retry_ms(n: u32) -> Option<i64> {
    wait(TURN_WAITS_MS, n)
}

/// Wait after the nth question to a runtime that does not answer, from 1.
#[must_use]
pub fn reconcile_retry_ms(n: u32) -> i64 {
    wait(RECONCILE_WAITS_MS, n.max(1)).unwrap_or(RECONCILE_LAST_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn msg_143_starts_wait_with_backoff_and_end() {
        let waits: Vec<_> = (1..=STARTS_MAX).map(start_retry_ms).collect();
        let s = |seconds: i64| Some(seconds * 1_000);
        assert_eq!(waits, [s(5), s(30), s(120), s(600), s(1_800), None]);
        assert_eq!(start_retry_ms(0), None);
        assert_eq!((turn_retry_ms(1), turn_retry_ms(2), turn_retry_ms(3)), (s(30), s(300), None));
    }

    #[test]
    fn questions_to_a_silent_runtime_never_stop_growing_past_a_minute() {
        let waits: Vec<_> = (0..8).map(reconcile_retry_ms).collect();
        assert_eq!(waits, [1_000, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 60_000]);
    }
}
