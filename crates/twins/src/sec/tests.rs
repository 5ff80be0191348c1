//! The twin through real sockets, as a client sees it.

use std::time::Duration;

use serde_json::Value;

use super::{Company, Fault, FaultAction, Filing, SecTwin};
use crate::front::client::Client;

const AGENT: &str = "loom/0.1 (Ann Example ann@example.com)";
const APPLE: &str = "/submissions/CIK0000320193.json";

fn client(twin: &SecTwin) -> Client {
    Client::new(twin.address()).with("user-agent", AGENT)
}

async fn patient() -> SecTwin {
    SecTwin::builder().per_second_max(1_000).recent_max(40).page_max(100).start().await.unwrap()
}

fn column<'a>(table: &'a Value, name: &str) -> &'a Vec<Value> {
    table[name].as_array().unwrap()
}

#[tokio::test]
async fn an_agent_without_a_contact_is_refused_with_a_page() {
    let twin = patient().await;
    for agent in ["", "curl/8", "ann@example.com", "loom/0.1 (Ann)", "loom @x"] {
        let refused = client(&twin).with("user-agent", agent).get(APPLE).await;
        assert_eq!(
            (refused.status, refused.header("content-type")),
            (403, "text/html; charset=utf-8"),
            "{agent}"
        );
        assert!(refused.text().contains("Undeclared Automated Tool"));
    }
    assert_eq!(client(&twin).get(APPLE).await.status, 200);
    assert_eq!(twin.requests()[5].header("user-agent"), Some(AGENT));
}

#[tokio::test]
async fn the_eleventh_request_of_a_second_blocks_the_client() {
    let twin = SecTwin::builder().blocked_for(Duration::from_secs(600)).start().await.unwrap();
    let all: Vec<_> = (0..40)
        .map(|_| {
            tokio::spawn({
                let c = client(&twin);
                async move { c.get("/files/none").await.status }
            })
        })
        .collect();
    let mut statuses = Vec::new();
    for one in all {
        statuses.push(one.await.unwrap());
    }
    // A machine too slow for forty requests within some seconds does not show it.
    let was_fast = twin.busiest_second() > 10;
    assert_eq!(was_fast, twin.rate_exceeded());
    assert_eq!(was_fast, statuses.contains(&403));
    if was_fast {
        let refused = client(&twin).get(APPLE).await;
        assert!(refused.status == 403 && refused.text().contains("Request Rate Threshold Exceeded"));
        twin.unblock();
        assert!(!twin.rate_exceeded());
    }
}

#[tokio::test]
async fn tickers_lead_to_submissions_with_older_pages() {
    let twin = patient().await;
    let client = client(&twin);
    let tickers = client.get("/files/company_tickers.json").await.json();
    let find =
        |ticker: &str| tickers.as_object().unwrap().values().find(|row| row["ticker"] == ticker).cloned();
    assert_eq!(find("BRK-B").unwrap()["cik_str"], 1_067_983);
    assert_eq!(find("BRK-A").unwrap()["cik_str"], 1_067_983);
    assert_eq!(find("BRK.B"), None);
    let apple = client.get(APPLE).await.json();
    let (recent, files) = (&apple["filings"]["recent"], column(&apple["filings"], "files"));
    let columns = recent.as_object().unwrap();
    assert!(columns.len() >= 14 && columns.values().all(|column| column.as_array().unwrap().len() == 40));
    let known = twin.company("aapl").unwrap();
    assert_eq!(column(recent, "accessionNumber")[0], known.filings[0].accession.as_str());
    let mut accessions = column(recent, "accessionNumber").clone();
    for file in files {
        let page = client.get(&format!("/submissions/{}", file["name"].as_str().unwrap())).await.json();
        let dates = column(&page, "filingDate");
        assert_eq!(
            (dates.len(), &file["filingTo"]),
            (file["filingCount"].as_u64().unwrap().try_into().unwrap(), &dates[0])
        );
        assert_eq!(&file["filingFrom"], dates.last().unwrap());
        accessions.extend(column(&page, "accessionNumber").clone());
    }
    assert_eq!(accessions.len(), known.filings.len());
    assert!(known.filings.is_sorted_by_key(|filing| std::cmp::Reverse(filing.accepted)));
    assert!(known.filings.iter().any(Filing::is_amendment));
    for lost in ["/submissions/CIK320193.json", "/submissions/CIK0000320193-submissions-099.json", "/x"] {
        assert_eq!(client.get(lost).await.status, 404);
    }
}

#[tokio::test]
async fn the_document_of_a_filing_is_in_its_folder() {
    let twin = patient().await;
    let filing =
        twin.company("AAPL").unwrap().filings.into_iter().find(|filing| filing.form == "10-K").unwrap();
    let path = format!("/Archives/edgar/data/320193/{}/{}", filing.folder(), filing.document);
    let document = client(&twin).get(&path).await;
    assert_eq!((document.status, document.header("content-type")), (200, "text/html; charset=utf-8"));
    assert!(document.text().contains("Form 10-K"));
    let again = client(&twin).with("if-none-match", document.header("etag")).get(&path).await;
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_eq!(client(&twin).get(&path.replace("320193", "789019")).await.status, 404);
}

#[tokio::test]
async fn figures_are_written_exactly_and_restated_later() {
    let twin = patient().await;
    twin.edit(320_193, |company| {
        let mut fact = company.facts.iter().find(|fact| fact.tag == "NetIncomeLoss").unwrap().clone();
        fact.value = "9007199254740993.10".into();
        company.facts.push(fact);
    });
    let path = "/api/xbrl/companyconcept/CIK0000320193/us-gaap/NetIncomeLoss.json";
    let concept = client(&twin).get(path).await;
    assert!(concept.text().contains("\"val\":9007199254740993.10"), "not a double");
    let body = concept.json();
    let facts = body["units"]["USD"].as_array().unwrap();
    assert!(facts.iter().all(|fact| fact["val"].is_number() && fact["start"].is_string()));
    let (first, last) = (&facts[0], facts.last().unwrap());
    assert_eq!(first["end"], last["end"], "the same period, said again");
    let restated = facts.iter().find(|fact| fact["form"] == "10-K/A").unwrap();
    let about_same =
        facts.iter().filter(|fact| fact["end"] == restated["end"] && fact["start"] == restated["start"]);
    assert!(
        about_same
            .into_iter()
            .any(|fact| fact["val"] != restated["val"] && fact["filed"] != restated["filed"])
    );
    let all = client(&twin).get("/api/xbrl/companyfacts/CIK0000320193.json").await.json();
    assert_eq!(
        all["facts"]["us-gaap"]["NetIncomeLoss"]["units"]["USD"].as_array().unwrap().len(),
        facts.len()
    );
    assert!(all["facts"]["dei"].is_object());
    assert_eq!(client(&twin).get(&path.replace("NetIncomeLoss", "Nothing")).await.status, 404);
}

#[tokio::test]
async fn failures_come_as_planned() {
    let twin = patient().await;
    twin.fault(Fault::once("/submissions/*", FaultAction::Blocked { retry_after_secs: None }));
    twin.fault(Fault::once("/submissions/*", FaultAction::TooMany { retry_after_secs: Some(9) }));
    twin.fault(Fault::once("/submissions/*", FaultAction::ShortColumn { column: "form".into() }));
    let field = FaultAction::Remove { pointer: "/filings/recent".into(), field: "accessionNumber".into() };
    twin.fault(Fault::once("/submissions/*", field));
    twin.fault(Fault::once("/submissions/*", FaultAction::Drop));
    let client = client(&twin);
    assert_eq!(client.get(APPLE).await.status, 403);
    let limited = client.get(APPLE).await;
    assert_eq!((limited.status, limited.header("retry-after")), (429, "9"));
    let bent = client.get(APPLE).await.json();
    let recent = &bent["filings"]["recent"];
    assert_eq!(column(recent, "form").len() + 1, column(recent, "filingDate").len());
    assert!(client.get(APPLE).await.json()["filings"]["recent"].get("accessionNumber").is_none());
    assert!(client.send("GET", APPLE, "").await.is_err());
    assert!(!twin.rate_exceeded(), "a planned refusal is nobody's haste");
    assert_eq!(client.get(APPLE).await.status, 200);
}

#[tokio::test]
async fn companies_can_be_added_and_some_filers_stamp_the_clock_of_new_york() {
    let mut small = Company::new(77, "TINY", "Tiny Co");
    small.filings =
        vec![Filing::new("0000000077-24-000001", "10-K", "2024-02-01T23:00:00Z".parse().unwrap(), None)];
    small.stamps_new_york = true;
    let twin = SecTwin::builder().company(small).seed(9).start().await.unwrap();
    let tiny = client(&twin).get("/submissions/CIK0000000077.json").await.json();
    let recent = &tiny["filings"]["recent"];
    // 18:00 in New York is after the hour, so it counts as filed on the next day.
    assert_eq!(recent["acceptanceDateTime"][0], "2024-02-01T18:00:00.000Z");
    assert_eq!((&recent["filingDate"][0], &recent["reportDate"][0]), (&"2024-02-02".into(), &"".into()));
    twin.edit(77, |company| company.stamps_new_york = false);
    let again = client(&twin).get("/submissions/CIK0000000077.json").await.json();
    assert_eq!(again["filings"]["recent"]["acceptanceDateTime"][0], "2024-02-01T23:00:00.000Z");
    assert_eq!(client(&twin).get("/api/xbrl/companyfacts/CIK0000000077.json").await.status, 404);
}
