use std::time::Duration;

use loom_transport::MockBackend;
use loom_transport::backend::mock::{Answer, Expectation};

use super::*;
use crate::finance_probe::{Query, fetch_filing_with};

/// CAP-098: many threads together keep to eight requests in any second, counted where they arrive.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn cap_098_many_threads_keep_to_eight_requests_a_second() {
    let twin = twin().await;
    let query =
        Query { contact: Some(CONTACT.to_owned()), api_url: Some(twin.base_url()), ..Query::cik(APPLE) };
    let (handle, start) = (tokio::runtime::Handle::current(), std::time::Instant::now());
    let threads: Vec<_> = (0..16)
        .map(|_| {
            let (handle, query) = (handle.clone(), query.clone());
            std::thread::spawn(move || {
                (0..2).filter(|_| handle.block_on(fetch_filing_with(query.clone())).is_ok()).count()
            })
        })
        .collect();
    let good = tokio::task::spawn_blocking(|| {
        threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
    });
    assert_eq!((good.await.unwrap(), twin.request_count()), (32, 32));
    assert!(start.elapsed() >= Duration::from_secs(3), "32 requests fill four windows");
    assert!(twin.busiest_second() <= 8, "{}", twin.busiest_second());
    assert!(twin.in_flight_max() <= 4);
}

/// CAP-099: after one refusal nothing is asked for, and callers fail at once.
#[tokio::test]
async fn cap_099_a_refusal_stops_everybody() {
    for action in
        [FaultAction::Blocked { retry_after_secs: None }, FaultAction::TooMany { retry_after_secs: None }]
    {
        let (twin, world) = (twin().await, world());
        twin.fault(Fault::once("/submissions/*", action));
        let first = ask_in(&world, &twin, "filing", json!({"cik": "320193"})).await;
        let error = first.error.clone().unwrap();
        assert_eq!((error.code, first.stop_reason), (Code::ProviderRateLimited, StopReason::RateLimited));
        assert!((590_000..=600_000).contains(&error.retry_after_ms.unwrap()));
        for operation in ["filing", "filings", "company", "facts"] {
            let paused = ask_in(&world, &twin, operation, json!({"ticker": "AAPL"})).await;
            assert_eq!((code(&paused), paused.effects.requests_sent), (Some(Code::ProviderRateLimited), 0));
        }
        assert_eq!(twin.request_count(), 1);
    }
}

/// CAP-099: a second refusal doubles the pause; a longer wait of the SEC counts.
#[tokio::test(start_paused = true)]
async fn cap_099_a_second_refusal_doubles_the_pause() {
    let backend = MockBackend::new();
    let refused = |answer: Answer| Expectation::new("GET").host("data.sec.gov").answer(answer);
    backend.expect(refused(Answer::status(403)));
    backend.expect(refused(Answer::status(403)));
    backend.expect(refused(Answer::status(429).header("retry-after", "3000")));
    let backend = Arc::new(backend);
    let transport = Transport::builder().backend(backend.clone()).build().unwrap();
    let world = World::new(Arc::new(move |_, _| Ok(transport.clone())));
    let ask = async || {
        let input = json!({"cik": "320193", "contact": CONTACT});
        let request = RunRequest { operation: "company".to_owned(), input, ..RunRequest::default() };
        let payload = crate::run(&world, &FinanceProbe::new(), request, None, &mut NoObserver).await.unwrap();
        payload.error.unwrap().retry_after_ms.unwrap()
    };
    for (pause, sent) in [(600_000, 1), (1_200_000, 2), (3_000_000, 3)] {
        assert_eq!((ask().await, backend.seen().len()), (pause, sent));
        tokio::time::advance(Duration::from_millis(pause - 300_000)).await;
        assert_eq!((ask().await, backend.seen().len()), (300_000, sent));
        tokio::time::advance(Duration::from_millis(300_001)).await;
    }
}
