//! Scopes with rates of their own, and what throttles do to them.

use std::sync::Arc;
use std::time::Duration;

use loom_domain::{Code, Timestamp};
use loom_transport::backend::mock::{Answer, Expectation};
use loom_transport::{Clock, MockBackend, SCOPE_SEC, Transport};
use tokio::time::Instant;

use crate::support::builder;

const START: i64 = 1_800_000_000_000;

/// A wall clock that follows the paused one.
#[derive(Debug)]
struct Following(Instant);

impl Clock for Following {
    fn now(&self) -> Timestamp {
        Timestamp(START + i64::try_from(self.0.elapsed().as_millis()).unwrap())
    }
}

fn transport(mock: &Arc<MockBackend>, shared: Option<&std::path::Path>) -> Transport {
    let mut builder = builder().backend(Arc::clone(mock) as _).clock(Arc::new(Following(Instant::now())));
    if let Some(dir) = shared {
        builder = builder.shared_rates(dir.to_owned());
    }
    builder.local_origin("http://127.0.0.1:9").build().unwrap()
}

/// Sends one after the other and tells when each was sent, in milliseconds.
async fn times(transport: &Transport, urls: &[&str], scope: Option<&str>) -> Vec<u128> {
    let (start, mut times) = (Instant::now(), Vec::new());
    for url in urls {
        let request = transport.get(url);
        let request = if let Some(scope) = scope { request.scope(scope) } else { request };
        request.send().await.unwrap();
        times.push(start.elapsed().as_millis());
    }
    times
}

fn most_in_a_second(times: &[u128]) -> usize {
    let after = |index: usize| times[index..].iter().filter(|t| **t - times[index] <= 1_000).count();
    (0..times.len()).map(after).max().unwrap_or(0)
}

#[tokio::test(start_paused = true)]
async fn all_sec_hosts_together_get_eight_in_a_second_also_on_loopback() {
    let mock = Arc::new(MockBackend::new());
    mock.expect(Expectation::new("GET").times(100));
    let transport = transport(&mock, None);
    let hosts = ["https://www.sec.gov/a", "https://data.sec.gov/b"].repeat(10);
    let sent = times(&transport, &hosts, None).await;
    assert_eq!((most_in_a_second(&sent), sent.last().unwrap() / 1_000), (8, 2));
    let local = times(&transport, &["http://127.0.0.1:9/"; 20], Some(SCOPE_SEC)).await;
    assert_eq!(most_in_a_second(&local), 8);
    let other = times(&transport, &["http://127.0.0.1:9/"; 20], None).await;
    assert_eq!(other.last(), Some(&0), "other loopback origins are not slowed down");
}

#[tokio::test(start_paused = true)]
async fn processes_of_one_home_share_the_window_of_the_sec() {
    let (mock, home) = (Arc::new(MockBackend::new()), tempfile::tempdir().unwrap());
    mock.expect(Expectation::new("GET").times(100));
    let (one, two) = (transport(&mock, Some(home.path())), transport(&mock, Some(home.path())));
    let urls = ["https://www.sec.gov/a"; 12];
    let (one, two) = tokio::join!(times(&one, &urls, None), times(&two, &urls, None));
    let mut all: Vec<u128> = one.into_iter().chain(two).collect();
    all.sort_unstable();
    assert_eq!((most_in_a_second(&all), all.last().unwrap() / 1_000), (8, 2));
}

#[tokio::test(start_paused = true)]
async fn a_403_of_the_sec_pauses_every_sec_host_for_ten_minutes() {
    for status in [403, 429] {
        let mock = Arc::new(MockBackend::new());
        mock.expect(Expectation::new("GET").answer(Answer::status(status)).answer(Answer::status(200)));
        let transport = transport(&mock, None);
        let error = transport.get("https://www.sec.gov/a").send().await.unwrap_err();
        assert_eq!((error.code, error.http_status), (Code::ProviderRateLimited, Some(status)));
        assert_eq!(error.retry_after_ms, Some(600_000));
        let error = transport.get("https://data.sec.gov/b").send().await.unwrap_err();
        assert_eq!(
            (error.code, error.detail["limited_by"].as_str()),
            (Code::ProviderRateLimited, Some("local"))
        );
        assert_eq!(mock.seen().len(), 1, "no socket during the pause");
        tokio::time::advance(Duration::from_secs(600)).await;
        transport.get("https://data.sec.gov/b").send().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn github_without_a_rest_pauses_until_its_reset_and_keeps_its_reserve() {
    let limits = |answer: Answer, remaining: &str| {
        answer
            .header("x-ratelimit-limit", "5000")
            .header("x-ratelimit-remaining", remaining)
            .header("x-ratelimit-reset", "1800000600")
    };
    let get =
        |transport: &Transport, path: &str| transport.get(&format!("https://api.github.com{path}")).send();

    let mock = Arc::new(MockBackend::new());
    let used_up = transport(&mock, None);
    mock.expect(Expectation::new("GET").answer(limits(Answer::status(403), "0")));
    let error = get(&used_up, "/a").await.unwrap_err();
    assert_eq!((error.code, error.retry_after_ms), (Code::ProviderRateLimited, Some(600_000)));
    let error = get(&used_up, "/search/issues").await.unwrap_err();
    assert_eq!((error.code, mock.seen().len()), (Code::ProviderRateLimited, 1));

    let mock = Arc::new(MockBackend::new());
    let reserved = transport(&mock, None);
    mock.expect(Expectation::new("GET").path("/a").answer(limits(Answer::status(200), "50")).times(2));
    mock.expect(Expectation::new("GET").path("/search/issues").answer(Answer::status(200)));
    get(&reserved, "/a").await.unwrap();
    let error = get(&reserved, "/a").await.unwrap_err();
    assert_eq!((error.code, error.detail["reason"].as_str()), (Code::ProviderRateLimited, Some("reserve")));
    get(&reserved, "/search/issues").await.unwrap();
    tokio::time::advance(Duration::from_secs(600)).await;
    get(&reserved, "/a").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn writes_to_github_go_one_a_second() {
    let mock = Arc::new(MockBackend::new());
    mock.expect(Expectation::new("POST").times(3));
    let (transport, start) = (transport(&mock, None), Instant::now());
    for _ in 0..3 {
        transport.post("https://api.github.com/repos/a/b/issues").json(&1).send().await.unwrap();
    }
    assert_eq!(start.elapsed().as_secs(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_403_with_retry_after_is_waited_out_and_another_is_a_refusal() {
    let mock = Arc::new(MockBackend::new());
    let transport = transport(&mock, None);
    mock.expect(
        Expectation::new("POST")
            .answer(Answer::status(403).header("retry-after", "9"))
            .answer(Answer::status(200)),
    );
    let response = transport.post("https://api.github.com/graphql").json(&1).send().await.unwrap();
    assert_eq!((response.meta().attempts, response.meta().waited_ms), (2, 9_000));
    mock.expect(Expectation::new("GET").answer(Answer::status(403)));
    let error = transport.get("https://api.github.com/a").send().await.unwrap_err();
    assert_eq!((error.code, error.detail["kind"].as_str()), (Code::ProviderHttpError, Some("permission")));
}
