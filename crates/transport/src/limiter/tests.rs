use super::*;
use crate::scope::{Rate, Window};

fn limiter() -> Limiter {
    Limiter::new(None, Arc::new(crate::clock::SystemClock))
}

fn key(scope: &str, pace: Pace) -> LaneKey {
    LaneKey { profile: Profile::Host, scope: scope.to_owned(), fingerprint: String::new(), pace }
}

fn rate(per_second: f64, burst: u32, concurrency: u32) -> Pace {
    Pace::of_rate(Rate { per_second, burst, concurrency })
}

fn windows(windows: &[(&str, u32, u64)]) -> Pace {
    let window = |(name, most, seconds): &(&str, u32, u64)| Window {
        name: (*name).to_owned(),
        most: *most,
        within: Duration::from_secs(*seconds),
    };
    Pace { bucket: None, windows: windows.iter().map(window).collect(), concurrency: 64, resource: "core" }
}

#[tokio::test(start_paused = true)]
async fn burst_passes_at_once_and_the_next_waits_for_its_token() {
    let (limiter, key) = (limiter(), key("a", rate(2.0, 3, 9)));
    let start = Instant::now();
    for _ in 0..5 {
        limiter.acquire(&key, start + Duration::from_secs(9)).await.unwrap();
    }
    let took = start.elapsed().as_millis();
    assert!((1_000..1_050).contains(&took), "{took}");
}

#[tokio::test(start_paused = true)]
async fn a_pause_holds_one_scope_and_no_other() {
    let (limiter, start) = (limiter(), Instant::now());
    let (a, b) = (key("a", Pace::of_rate(Rate::HOST)), key("b", Pace::of_rate(Rate::HOST)));
    limiter.pause(&a, Duration::from_secs(30));
    assert_eq!(limiter.acquire(&b, start).await.unwrap().waited, Duration::ZERO);
    let error = limiter.acquire(&a, start + Duration::from_secs(10)).await.unwrap_err();
    assert_eq!(error.code, Code::ProviderRateLimited);
    assert_eq!(error.detail["limited_by"], "local");
    let permit = limiter.acquire(&a, start + Duration::from_secs(60)).await.unwrap();
    assert_eq!(permit.waited, Duration::from_secs(30));
}

#[tokio::test(start_paused = true)]
async fn concurrency_frees_its_slot_on_drop() {
    let (limiter, start) = (limiter(), Instant::now());
    let key = key("a", rate(100.0, 100, 1));
    let first = limiter.acquire(&key, start).await.unwrap();
    assert!(limiter.acquire(&key, start + Duration::from_secs(1)).await.is_err());
    drop(first);
    assert!(limiter.acquire(&key, start + Duration::from_secs(2)).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn no_span_of_a_window_holds_more_than_its_permits() {
    let (limiter, start) = (limiter(), Instant::now());
    let pace = windows(&[("w", 8, 1), ("minute", 20, 60)]);
    let mut times = Vec::new();
    for index in 0..25_u64 {
        limiter.acquire(&key("a", pace.clone()), start + Duration::from_secs(600)).await.unwrap();
        times.push(start.elapsed().as_millis());
        // An uneven start, so that windows begin in the middle of others.
        tokio::time::advance(Duration::from_millis(index % 3 * 70)).await;
    }
    for (index, time) in times.iter().enumerate() {
        let after = |length: u128| times[index..].iter().filter(|t| **t - time <= length).count();
        assert!(after(1_000) <= 8 && after(60_000) <= 20, "{index} {times:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_window_takes_nothing_from_the_others() {
    let (limiter, start) = (limiter(), Instant::now());
    let both = key("a", windows(&[("reads", 3, 1), ("writes", 1, 60)]));
    let reads = key("a", windows(&[("reads", 3, 1)]));
    limiter.acquire(&both, start).await.unwrap();
    assert!(limiter.acquire(&both, start).await.is_err());
    limiter.acquire(&reads, start).await.unwrap();
    limiter.acquire(&reads, start).await.unwrap();
    assert!(limiter.acquire(&reads, start).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_reserve_holds_one_resource_of_the_provider() {
    let (limiter, start) = (limiter(), Instant::now());
    let core = key("a", rate(10.0, 10, 10));
    let search = key("a", Pace { resource: "search", ..rate(10.0, 10, 10) });
    limiter.reserve(&core, "core", Duration::from_secs(100));
    assert!(limiter.acquire(&search, start).await.is_ok());
    let error = limiter.acquire(&core, start).await.unwrap_err();
    assert_eq!((error.detail["reason"].as_str(), error.retry_after_ms), (Some("reserve"), Some(100_000)));
}

#[tokio::test(start_paused = true)]
async fn a_pause_of_the_sec_doubles_until_a_request_is_accepted() {
    let limiter = limiter();
    let key = LaneKey { profile: Profile::Sec, ..key("sec", windows(&[])) };
    for (seconds, accepted) in
        [(600, false), (1_200, false), (2_400, false), (3_600, false), (3_600, true), (600, true)]
    {
        limiter.pause_sec(&key, None).await;
        assert_eq!(limiter.pause_left(&key), Some(Duration::from_secs(seconds)));
        tokio::time::advance(Duration::from_secs(seconds)).await;
        assert_eq!(limiter.pause_left(&key), None);
        if accepted {
            limiter.accepted(&key);
        }
    }
}
