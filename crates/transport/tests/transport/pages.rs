//! Lists that are read page by page.

use std::time::Duration;

use loom_domain::{Code, Result};
use loom_transport::backend::mock::{Answer, Expectation};
use loom_transport::{JqPath, MockBackend, PageEvent, PageStream, Paging, StopReason, Transport};
use serde_json::{Value, json};

use crate::support::mocked;

const URL: &str = "https://api.example/list";

fn path(text: &str) -> JqPath {
    text.parse().unwrap()
}

fn by_cursor() -> Paging {
    Paging::Cursor { param: "cursor".into(), next: path(".meta.next"), items: path(".items") }
}

fn page_of(items: &[u32], next: &str) -> Answer {
    Answer::json(&json!({"items": items, "meta": {"next": next}}))
}

fn expect(mock: &MockBackend, query: &[(&str, &str)], answer: Answer) {
    let expectation = query.iter().fold(Expectation::new("GET"), |e, (name, value)| e.query(name, value));
    mock.expect(expectation.answer(answer));
}

async fn read(mut pages: PageStream) -> (Vec<Value>, Vec<Result<PageEvent>>) {
    let (mut items, mut others) = (Vec::new(), Vec::new());
    while let Some(event) = pages.next().await {
        match event {
            Ok(PageEvent::Item(item)) => items.push(item),
            other => others.push(other),
        }
    }
    (items, others)
}

/// The query of a page and its answer.
type Exchange = (Vec<(&'static str, &'static str)>, Answer);

/// The items, complete or not, and why it stopped.
async fn outcome(pages: PageStream) -> (Vec<Value>, bool, StopReason, Option<String>) {
    let (items, end) = pages.collect().await.unwrap();
    (items, end.complete, end.stop_reason, end.cursor)
}

fn numbers(items: &[u32]) -> Vec<Value> {
    items.iter().map(|n| json!(n)).collect()
}

#[tokio::test]
async fn cap_124_every_paging_kind_reads_all_pages() {
    let link = |page: u32| {
        Answer::json(&json!([page])).header("link", &format!("</list?p={}>; rel=\"next\"", page + 1))
    };
    let array = |items: &[u32]| Answer::json(&json!(items));
    let kinds: [(Paging, Vec<Exchange>); 5] = [
        (
            Paging::Link,
            vec![(vec![("q", "x")], link(1)), (vec![("p", "2")], link(2)), (vec![("p", "3")], array(&[3]))],
        ),
        (
            by_cursor(),
            vec![
                (vec![("q", "x")], page_of(&[1], "a")),
                (vec![("q", "x"), ("cursor", "a")], page_of(&[2, 3], "")),
            ],
        ),
        (
            Paging::Page {
                param: "page".into(),
                start: 1,
                size_param: Some("per".into()),
                size: 2,
                items: path("."),
            },
            vec![
                (vec![("page", "1"), ("per", "2"), ("q", "x")], array(&[1, 2])),
                (vec![("page", "2"), ("per", "2")], array(&[3])),
            ],
        ),
        (
            Paging::Offset { param: "from".into(), size_param: "n".into(), size: 2, items: path(".") },
            vec![
                (vec![("from", "0"), ("n", "2")], array(&[1, 2])),
                (vec![("from", "2"), ("n", "2")], array(&[3])),
            ],
        ),
        (
            Paging::NextUrl { next: path(".meta.next"), items: path(".items") },
            vec![(vec![("q", "x")], page_of(&[1, 2], "/list?at=2")), (vec![("at", "2")], page_of(&[3], ""))],
        ),
    ];
    for (paging, answers) in kinds {
        let (transport, mock, _) = mocked();
        for (query, answer) in answers {
            expect(&mock, &query, answer);
        }
        let pages = transport.get(&format!("{URL}?page=9")).query("q", "x").pages(paging.clone());
        let (items, complete, reason, cursor) = outcome(pages).await;
        assert_eq!(
            (items, complete, reason, cursor),
            (numbers(&[1, 2, 3]), true, StopReason::End, None),
            "{paging:?}"
        );
        mock.verify().unwrap();
    }
}

#[tokio::test]
async fn items_of_a_page_are_given_before_the_next_is_asked_for() {
    let (transport, mock, _) = mocked();
    mock.expect(Expectation::new("GET").answer(page_of(&[1, 2], "b")).answer(page_of(&[3], "")));
    let mut pages = transport.get(URL).pages(by_cursor());
    assert!(mock.seen().is_empty());
    for (item, requests) in [(1, 1), (2, 1), (3, 2)] {
        assert_eq!(pages.next().await.unwrap().unwrap(), PageEvent::Item(json!(item)));
        assert_eq!(mock.seen().len(), requests);
    }
    assert!(matches!(pages.next().await.unwrap().unwrap(), PageEvent::End(end) if end.complete));
    assert!(pages.next().await.is_none());
}

/// Reads with limits until nothing is left, always resuming.
async fn in_parts(
    transport: &Transport,
    limit: impl Fn(PageStream) -> PageStream,
    reason: StopReason,
) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), None::<String>);
    for _ in 0..9 {
        let pages = limit(transport.get(URL).pages(by_cursor()));
        let pages = if let Some(cursor) = &cursor { pages.resume(cursor) } else { pages };
        let (items, end) = pages.collect().await.unwrap();
        all.extend(items);
        if end.complete {
            assert_eq!(end.cursor, None);
            return all;
        }
        assert_eq!(end.stop_reason, reason);
        cursor = end.cursor;
    }
    panic!("the list never ends");
}

#[tokio::test]
async fn a_limited_reading_goes_on_at_its_cursor_without_a_gap_or_a_repeat() {
    for (items, requests) in [(2_u64, 5), (1, 7), (5, 2)] {
        let (transport, mock, _) = mocked();
        let mock_pages = |query: &str, items: &[u32], next: &str| {
            mock.expect(Expectation::new("GET").query("cursor", query).answer(page_of(items, next)).times(9));
        };
        mock_pages("b", &[4], "");
        mock.expect(Expectation::new("GET").answer(page_of(&[1, 2, 3], "b")).times(9));
        let all = in_parts(&transport, |p| p.max_items(items), StopReason::Limit).await;
        assert_eq!(all, numbers(&[1, 2, 3, 4]));
        assert!(mock.seen().len() <= requests, "{}", mock.seen().len());
        let all = in_parts(&transport, |p| p.max_pages(1), StopReason::MaxPages).await;
        assert_eq!(all, numbers(&[1, 2, 3, 4]));
    }
}

#[tokio::test]
async fn cap_030_a_page_that_fails_leaves_the_items_before_it_and_a_cursor() {
    let (transport, mock, _) = mocked();
    mock.expect(Expectation::new("GET").query("cursor", "b").answer(page_of(&[2], "c")));
    mock.expect(
        Expectation::new("GET").query("cursor", "c").answer(Answer::status(404)).answer(page_of(&[3], "")),
    );
    mock.expect(Expectation::new("GET").answer(page_of(&[1], "b")));
    let (items, ends) = read(transport.get(URL).pages(by_cursor())).await;
    assert_eq!(items, numbers(&[1, 2]));
    let [Err(error), Ok(PageEvent::End(end))] = ends.as_slice() else { panic!("{ends:?}") };
    assert_eq!(
        (error.code, end.complete, end.stop_reason),
        (Code::ProviderHttpError, false, StopReason::Error)
    );
    let rest = transport.get(URL).pages(by_cursor()).resume(end.cursor.as_deref().unwrap());
    assert_eq!(outcome(rest).await.0, numbers(&[3]));
}

#[tokio::test]
async fn cap_124_a_repeated_cursor_is_a_protocol_error() {
    let (transport, mock, _) = mocked();
    mock.expect(Expectation::new("GET").answer(page_of(&[1], "b")).times(9));
    let (items, ends) = read(transport.get(URL).pages(by_cursor())).await;
    assert_eq!((items.len(), mock.seen().len()), (2, 2));
    assert_eq!(ends[0].as_ref().unwrap_err().code, Code::ProviderProtocolError);

    let (transport, mock, _) = mocked();
    let again = Answer::json(&json!([1])).header("link", &format!("<{URL}>; rel=next"));
    mock.expect(Expectation::new("GET").answer(again).times(9));
    let (items, ends) = read(transport.get(URL).pages(Paging::Link)).await;
    assert_eq!((items.len(), mock.seen().len()), (1, 1), "a page that names itself is not read again");
    assert_eq!(ends[0].as_ref().unwrap_err().code, Code::ProviderProtocolError);
}

#[tokio::test]
async fn cap_124_a_next_link_to_another_origin_is_refused_also_out_of_a_cursor() {
    for next in [
        "https://evil.example/list",
        "http://api.example/list",
        "https://api.example:8443/",
        "https://u@api.example/",
    ] {
        let (transport, mock, _) = mocked();
        let answer = Answer::json(&json!([1])).header("link", &format!("<{next}>; rel=next"));
        mock.expect(Expectation::new("GET").answer(answer));
        let (_, ends) = read(transport.get(URL).pages(Paging::Link)).await;
        assert_eq!(ends[0].as_ref().unwrap_err().code, Code::EgressDenied, "{next}");
        let (_, ends) = read(transport.get(URL).pages(Paging::Link).resume(&format!("0:{next}"))).await;
        assert_eq!(ends[0].as_ref().unwrap_err().code, Code::EgressDenied, "{next}");
        assert_eq!(mock.seen().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn the_deadline_of_all_pages_stops_without_an_error() {
    let (transport, mock, _) = mocked();
    let slow = |items: &[u32], next: &str| page_of(items, next).stall_ms(4_000);
    mock.expect(
        Expectation::new("GET").answer(slow(&[1], "b")).answer(slow(&[2], "c")).answer(slow(&[3], "d")),
    );
    let pages = transport.get(URL).pages(by_cursor()).deadline(Duration::from_secs(10));
    let (items, complete, reason, cursor) = outcome(pages).await;
    assert_eq!((items.len(), complete, reason), (2, false, StopReason::Deadline));
    assert_eq!(cursor.as_deref(), Some("0:c"));
}

#[tokio::test(start_paused = true)]
async fn a_throttle_beyond_the_deadline_stops_as_rate_limited() {
    let (transport, mock, _) = mocked();
    mock.expect(Expectation::new("GET").answer(Answer::status(429).header("retry-after", "600")));
    let (_, ends) = read(transport.get(URL).pages(by_cursor())).await;
    let [Err(error), Ok(PageEvent::End(end))] = ends.as_slice() else { panic!("{ends:?}") };
    assert_eq!((error.code, end.stop_reason), (Code::ProviderRateLimited, StopReason::RateLimited));
}

#[tokio::test]
async fn pages_that_are_no_pages_and_numbers_out_of_range_are_refused() {
    for body in [json!({}), json!({"items": 1}), json!({"items": [], "meta": {"next": []}})] {
        let (transport, mock, _) = mocked();
        mock.expect(Expectation::new("GET").answer(Answer::json(&body)));
        let error = transport.get(URL).pages(by_cursor()).collect().await.unwrap_err();
        assert_eq!(error.code, Code::ProviderProtocolError, "{body}");
    }
    let (transport, mock, _) = mocked();
    let error = transport.get(URL).pages(by_cursor()).max_pages(0).collect().await.unwrap_err();
    assert_eq!(error.code, Code::Usage);
    let error = transport.get(URL).pages(by_cursor()).resume("x").collect().await.unwrap_err();
    assert_eq!(error.code, Code::InvalidInput);
    assert!(mock.seen().is_empty());
}
