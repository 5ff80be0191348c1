//! The app's token: fetched by one call at a time, kept until shortly before its end (provider reference B.2).

use std::time::Duration;

use loom_secrets::Secret;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// A token is not used in the last minutes of its life.
const MARGIN: Duration = Duration::from_mins(5);
/// Longest life that is believed, seconds.
const LIFE_S_MAX: u64 = 24 * 3_600;

#[derive(Debug)]
struct Kept {
    token: Secret,
    until: Instant,
}

/// Keeps the newest token.
#[derive(Debug, Default)]
pub(super) struct Tokens(Mutex<Option<Kept>>);

impl Tokens {
    /// A token that still lasts and is not the one that `ended`; whoever waits behind a fetch gets its token.
    pub(super) async fn get<E>(
        &self,
        ended: Option<&Secret>,
        fetch: impl Future<Output = Result<(Secret, u64), E>>,
    ) -> Result<Secret, E> {
        let mut kept = self.0.lock().await;
        let is_good = |kept: &&Kept| kept.until > Instant::now() && Some(&kept.token) != ended;
        if let Some(kept) = kept.as_ref().filter(is_good) {
            return Ok(kept.token.clone());
        }
        let (token, life_s) = fetch.await?;
        let life = Duration::from_secs(life_s.min(LIFE_S_MAX)).saturating_sub(MARGIN);
        *kept = Some(Kept { token: token.clone(), until: Instant::now() + life });
        Ok(token)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    async fn fetch(count: &AtomicU64) -> Result<(Secret, u64), ()> {
        tokio::task::yield_now().await;
        let n = count.fetch_add(1, Ordering::Relaxed);
        Ok((Secret::new(format!("t-{n}")), 7_200))
    }

    #[tokio::test(start_paused = true)]
    async fn one_fetch_serves_all_who_wait_and_lasts_until_five_minutes_before_the_end() {
        let (tokens, count) = (Tokens::default(), AtomicU64::new(0));
        let (a, b) = tokio::join!(tokens.get(None, fetch(&count)), tokens.get(None, fetch(&count)));
        assert_eq!((a.clone(), count.load(Ordering::Relaxed)), (b, 1));
        tokio::time::advance(Duration::from_secs(6_899)).await;
        assert_eq!(tokens.get(None, fetch(&count)).await, a);
        tokio::time::advance(Duration::from_secs(2)).await;
        let second = tokens.get(None, fetch(&count)).await.unwrap();
        assert_eq!(second.expose(), "t-1");
        // Two who were refused with the same token fetch one new token.
        let (c, d) =
            tokio::join!(tokens.get(Some(&second), fetch(&count)), tokens.get(Some(&second), fetch(&count)));
        assert_eq!((c.unwrap().expose(), d.unwrap().expose()), ("t-2", "t-2"));
    }
}
