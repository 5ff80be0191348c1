use loom_twins::sec::Filing as Known;

use super::*;
use crate::finance_probe::{self, Query};

const REPORTS: [&str; 4] = ["10-K", "10-Q", "10-K/A", "10-Q/A"];

fn accessions(payload: &Payload) -> Vec<String> {
    payload.items.iter().map(|item| item["accession_number"].as_str().unwrap().to_owned()).collect()
}

fn day_in_new_york(filing: &Known) -> String {
    let zone = jiff::tz::TimeZone::get("America/New_York").unwrap();
    filing.accepted.to_zoned(zone).date().to_string()
}

/// The filings of a company in the declared order.
fn known(twin: &SecTwin, ticker: &str, fits: impl Fn(&Known) -> bool) -> Vec<String> {
    let mut filings: Vec<Known> = twin.company(ticker).unwrap().filings.into_iter().filter(fits).collect();
    filings.sort_by(|a, b| (b.accepted, &a.accession).cmp(&(a.accepted, &b.accession)));
    filings.into_iter().map(|filing| filing.accession).collect()
}

/// CAP-096: the newest annual or quarterly report, with its number and document.
#[tokio::test]
async fn cap_096_the_newest_report_of_a_ticker() {
    let twin = twin().await;
    let query =
        Query { contact: Some(CONTACT.to_owned()), api_url: Some(twin.base_url()), ..Query::ticker("aapl") };
    let filing = finance_probe::fetch_filing_with(query.clone()).await.unwrap();
    let newest = known(&twin, "AAPL", |filing| REPORTS.contains(&filing.form.as_str())).remove(0);
    let expected =
        twin.company("AAPL").unwrap().filings.into_iter().find(|filing| filing.accession == newest).unwrap();
    assert_eq!((&filing.accession_number, &filing.form), (&newest, &expected.form));
    assert_eq!((filing.cik.as_str(), filing.ticker.as_deref()), ("0000320193", Some("AAPL")));
    let folder = format!("{}/Archives/edgar/data/320193/{}", twin.base_url(), newest.replace('-', ""));
    assert_eq!(filing.document_url, Some(format!("{folder}/{}", expected.document)));
    assert_eq!(filing.index_url, format!("{folder}/{newest}-index.htm"));
    assert_eq!(
        filing.acceptance_datetime,
        loom_domain::Timestamp(expected.accepted.as_millisecond()).to_string()
    );
    assert_eq!((filing.filing_date, filing.size_bytes), (expected.filing_date.to_string(), expected.size));
    let company = finance_probe::company_with(query.clone()).await.unwrap();
    assert_eq!((company.name.as_str(), company.cik.as_str()), ("Apple Inc.", "0000320193"));
    let all = finance_probe::filings_with(Query { limit: Some(7), ..query.clone() }).await.unwrap();
    assert_eq!(all.len(), 7);
    let facts = finance_probe::facts_with(Query { concept: Some("dei:Nothing".into()), ..query }).await;
    assert_eq!(facts.unwrap_err().http_status, Some(404));
}

/// CAP-100: a filing of an older page is found, and only the pages that overlap are read.
#[tokio::test]
async fn cap_100_older_pages_are_read_when_they_overlap() {
    let twin = twin().await;
    let in_page = |one: &Known| one.form == "10-K" && one.filing_date.to_string().starts_with("2006");
    let expected = known(&twin, "AAPL", in_page);
    let input = json!({"cik": "320193", "form": ["10-K"], "amendments": false, "since": "2006-01-01", "until": "2006-12-31"});
    let payload = ask(&twin, "filings", input).await;
    assert_eq!((accessions(&payload), payload.complete), (expected.clone(), true));
    assert_eq!(expected.len(), 1);
    let filings = twin.company("AAPL").unwrap().filings;
    let overlaps = |page: &[Known]| {
        let year = |one: Option<&Known>| one.unwrap().filing_date.year();
        year(page.last()) <= 2006 && year(page.first()) >= 2006
    };
    let pages = (1..).zip(filings[40..].chunks(100)).filter(|(_, page)| overlaps(page));
    let pages = pages.map(|(number, _)| format!("/submissions/CIK0000320193-submissions-{number:03}.json"));
    let read: Vec<String> =
        std::iter::once("/submissions/CIK0000320193.json".to_owned()).chain(pages).collect();
    assert!((2..=3).contains(&read.len()));
    assert_eq!(paths(&twin), read);
    twin.clear_requests();
    let by_number = ask(&twin, "filing", json!({"cik": "320193", "accession": expected[0]})).await;
    assert_eq!((accessions(&by_number), by_number.complete), (expected, true));
    assert!(!paths(&twin).iter().any(|path| path.ends_with("-001.json") || path.ends_with("-002.json")));
    twin.clear_requests();
    let newest = ask(&twin, "filings", json!({"cik": "320193", "limit": 40})).await;
    assert_eq!((newest.item_count, newest.stop_reason), (40, StopReason::Limit));
    assert_eq!(paths(&twin).len(), 1);
}

/// All filings come in order, whatever their pages; a list that was cut goes on where it ended.
#[tokio::test]
async fn a_list_goes_on_where_it_ended() {
    let (twin, world) = (twin().await, world());
    let all = known(&twin, "MSFT", |_| true);
    let whole = ask_in(&world, &twin, "filings", json!({"cik": "789019", "limit": 10_000})).await;
    assert_eq!((accessions(&whole), whole.complete, whole.cursor.clone()), (all.clone(), true, None));
    let mut given: Vec<String> = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..10 {
        let request = request(&twin, "filings", json!({"cik": "789019", "limit": 90}));
        let part = crate::run(&world, &FinanceProbe::new(), request, cursor.as_deref(), &mut NoObserver)
            .await
            .unwrap();
        given.extend(accessions(&part));
        cursor = part.cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(given, all);
    let mut few = request(&twin, "filings", json!({"cik": "789019", "limit": 10_000}));
    few.limits.max_pages = Some(2);
    let part = crate::run(&world, &FinanceProbe::new(), few, None, &mut NoObserver).await.unwrap();
    assert_eq!((part.stop_reason, part.cursor.is_some()), (StopReason::MaxPages, true));
    assert!(all.starts_with(&accessions(&part)));
}

/// CAP-101: what was accepted after the end of the day in New York is not there, whatever clock the filer stamps.
#[tokio::test]
async fn cap_101_as_of_hides_what_came_later() {
    let twin = twin().await;
    for (ticker, cik) in [("AAPL", "320193"), ("GE", "40545")] {
        let filings = twin.company(ticker).unwrap().filings;
        let amended = filings.iter().find(|one| one.is_amendment() && one.filing_date.year() > 2015).unwrap();
        let day_before = amended.accepted.checked_sub(jiff::SignedDuration::from_hours(24)).unwrap();
        let as_of = day_in_new_york(&Known { accepted: day_before, ..amended.clone() });
        let expected =
            known(&twin, ticker, |one| day_in_new_york(one) <= as_of && one.filing_date.year() >= 2012);
        let input = json!({"cik": cik, "as_of": as_of, "since": "2012-01-01", "limit": 10_000});
        let payload = ask(&twin, "filings", input).await;
        assert_eq!(accessions(&payload), expected, "{ticker}");
        assert!(!expected.contains(&amended.accession));
        let times = payload.items.iter().map(|item| item["acceptance_datetime"].as_str().unwrap().to_owned());
        let newest = filings.iter().find(|one| one.accession == expected[0]).unwrap();
        let accepted = loom_domain::Timestamp(newest.accepted.as_millisecond()).to_string();
        assert_eq!(times.clone().next().unwrap(), accepted, "{ticker}");
        assert!(times.is_sorted_by(|a, b| a >= b));
    }
    // Accepted in the evening: of that day, though filed on the next.
    let late = twin.company("AAPL").unwrap().filings.into_iter();
    let late = late.clone().find(|one| day_in_new_york(one) < one.filing_date.to_string()).unwrap();
    let input = json!({"cik": "320193", "as_of": day_in_new_york(&late), "limit": 1});
    assert_eq!(accessions(&ask(&twin, "filings", input).await), [late.accession]);
}

/// CAP-101: forms mean their amendments, unless told otherwise; forms that exist are named when none fits.
#[tokio::test]
async fn cap_101_forms_and_amendments() {
    let twin = twin().await;
    let forms = |payload: &Payload| -> std::collections::BTreeSet<String> {
        payload.items.iter().map(|item| item["form"].as_str().unwrap().to_owned()).collect()
    };
    let input = json!({"ticker": "IBM", "form": ["10-k,10-q"], "limit": 1_000});
    let with = ask(&twin, "filings", input.clone()).await;
    assert_eq!(forms(&with), REPORTS.map(str::to_owned).into());
    assert!(
        with.items.iter().all(|item| item["is_amendment"] == item["form"].as_str().unwrap().ends_with("/A"))
    );
    let mut input = input;
    input["amendments"] = json!(false);
    assert_eq!(forms(&ask(&twin, "filings", input).await), ["10-K", "10-Q"].map(str::to_owned).into());
    let error = ask(&twin, "filing", json!({"ticker": "IBM", "form": ["20-F"]})).await.error.unwrap();
    assert_eq!(error.code, Code::NoMatchingFiling);
    assert!(error.detail["forms_available"].as_array().unwrap().contains(&json!("10-K")));
}

/// CAP-103: a table that does not fit is an error, and no row of it is given.
#[tokio::test]
async fn cap_103_unequal_columns_and_missing_keys_are_errors() {
    let twin = twin().await;
    let short = |column: &str| FaultAction::ShortColumn { column: column.into() };
    let remove =
        |pointer: &str, field: &str| FaultAction::Remove { pointer: pointer.into(), field: field.into() };
    for (path, action) in [
        ("/submissions/*", short("form")),
        ("/submissions/*", short("filmNumber")),
        ("/submissions/*", remove("/filings/recent", "accessionNumber")),
        ("/submissions/*", remove("/filings", "files")),
        ("/submissions/*", remove("", "name")),
        ("/submissions/*", FaultAction::Put { pointer: "/cik".into(), value: json!("0000000001") }),
        (
            "/submissions/*",
            FaultAction::Put { pointer: "/filings/files/0/name".into(), value: json!("../x") },
        ),
        ("/submissions/CIK0000320193-*", short("form")),
    ] {
        twin.fault(Fault::once(path, action.clone()));
        let payload = ask(&twin, "filings", json!({"cik": "320193", "limit": 10_000})).await;
        assert_eq!(code(&payload), Some(Code::ProviderProtocolError), "{action:?}");
        assert!(!payload.ok && !payload.complete && payload.effects.external_writes == 0);
        twin.clear_faults();
        tokio::task::yield_now().await;
    }
}
