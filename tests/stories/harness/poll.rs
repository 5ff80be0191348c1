//! Waiting with a deadline: looks again and again until there is something to see.

use std::time::Duration;

use tokio::time::Instant;

/// What a busy machine needs for one step of a story.
pub(crate) const SOON: Duration = Duration::from_secs(30);
/// What settlement by look-up needs: its reads are spread over a minute.
pub(crate) const LONG: Duration = Duration::from_secs(150);
const PAUSE: Duration = Duration::from_millis(50);

/// Looks until the look gives a value; fails the test with `what` after the limit.
pub(crate) async fn eventually<T, F>(what: &str, limit: Duration, mut look: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    let deadline = Instant::now() + limit;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "within {limit:?} never seen: {what}");
        tokio::time::sleep(PAUSE).await;
    }
}

/// Checks over and over, for a span, that something stays as it is.
pub(crate) async fn stays<F: Future<Output = bool>>(
    what: &str,
    span: Duration,
    mut holds: impl FnMut() -> F,
) {
    let end = Instant::now() + span;
    while Instant::now() < end {
        assert!(holds().await, "did not stay: {what}");
        tokio::time::sleep(PAUSE * 10).await;
    }
}
