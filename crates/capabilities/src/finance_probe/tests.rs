//! The connector on the SEC twin.

mod documents;
mod facts;
mod filings;
mod pace;

use std::sync::{Arc, OnceLock};

use loom_domain::Code;
use loom_transport::{CacheMode, Transport};
use loom_twins::sec::{Fault, FaultAction, SecTwin};
use serde_json::{Value, json};

use super::*;
use crate::{NoObserver, Payload, RunSettings, World};

const CONTACT: &str = "Ann Example ann@example.com";
const AGENT: &str = concat!("loom/", env!("CARGO_PKG_VERSION"), " (Ann Example ann@example.com)");
const APPLE: u64 = 320_193;

/// A twin that many worlds may ask at once; those of the tests of pace have the limit of the SEC.
async fn twin() -> SecTwin {
    SecTwin::builder().per_second_max(1_000).recent_max(40).page_max(100).start().await.unwrap()
}

/// A world whose runs share one transport, as a process's do.
fn world() -> World {
    let made = OnceLock::new();
    let mut world = World::new(Arc::new(move |meter, origins| {
        let build = || {
            let builder = Transport::builder().log(meter.log());
            origins.iter().fold(builder, |builder, origin| builder.local_origin(origin)).build().unwrap()
        };
        Ok(made.get_or_init(build).clone())
    }));
    world.key = Arc::new(|| Ok([7; 32]));
    world
}

fn request(twin: &SecTwin, operation: &str, mut input: Value) -> RunRequest {
    input.as_object_mut().unwrap().entry("contact").or_insert(json!(CONTACT));
    let settings = RunSettings { api_url: Some(twin.base_url()), ..RunSettings::default() };
    RunRequest { operation: operation.to_owned(), input, settings, ..RunRequest::default() }
}

async fn ask_in(world: &World, twin: &SecTwin, operation: &str, input: Value) -> Payload {
    let request = request(twin, operation, input);
    crate::run(world, &FinanceProbe::new(), request, None, &mut NoObserver).await.unwrap()
}

async fn ask(twin: &SecTwin, operation: &str, input: Value) -> Payload {
    ask_in(&world(), twin, operation, input).await
}

fn paths(twin: &SecTwin) -> Vec<String> {
    twin.requests().into_iter().map(|request| request.path).collect()
}

fn code(payload: &Payload) -> Option<Code> {
    payload.error.as_ref().map(|error| error.code)
}

#[tokio::test]
async fn a_company_says_what_it_is() {
    let twin = twin().await;
    let payload = ask(&twin, "company", json!({"ticker": "brk.b"})).await;
    let known = twin.company("BRK-B").unwrap();
    assert_eq!((payload.ok, payload.content_trust, payload.complete), (true, "untrusted", true));
    let fields = &payload.fields;
    assert_eq!((&fields["cik"], &fields["tickers"]), (&json!("0001067983"), &json!(["BRK-B", "BRK-A"])));
    assert_eq!((&fields["name"], &fields["sic"]), (&json!(known.name), &json!("6331")));
    assert_eq!(fields["former_names"][0]["name"], "BERKSHIRE HATHAWAY INC OLD");
    assert_eq!(fields["filings_total"], known.filings.len());
    let kinds: Vec<&str> = payload.source_refs.iter().map(|source| source.kind.as_str()).collect();
    assert_eq!(kinds, ["sec_company_tickers", "sec_submissions"]);
    assert_eq!((payload.effects.requests_sent, payload.effects.external_reads), (2, 2));
    assert_eq!(payload.provenance.api_base, Some(twin.base_url()));
    let probe = ask(&twin, "probe", json!({"cik": "1067983"})).await;
    assert_eq!(probe.fields, payload.fields);
}

/// CAP-009: without a target it tells about itself, and what it lacks.
#[tokio::test]
async fn cap_009_a_probe_without_a_target_tells_about_itself() {
    let request = RunRequest::default();
    let payload = crate::run(&world(), &FinanceProbe::new(), request, None, &mut NoObserver).await.unwrap();
    assert_eq!((payload.ok, payload.content_trust), (true, "trusted"));
    assert_eq!(payload.fields["readiness"]["status"], "not_configured");
}

/// CAP-097: without a contact nothing is opened; with one every request carries it.
#[tokio::test]
async fn cap_097_every_request_carries_the_contact() {
    let twin = twin().await;
    let mut nobody = request(&twin, "filing", json!({"ticker": "AAPL"}));
    nobody.input.as_object_mut().unwrap().remove("contact");
    let refused =
        crate::run(&world(), &FinanceProbe::new(), nobody.clone(), None, &mut NoObserver).await.unwrap();
    assert_eq!((code(&refused), refused.effects.requests_sent), (Some(Code::ContactRequired), 0));
    let nameless = ask(&twin, "filing", json!({"ticker": "AAPL", "contact": "ann@example.com"})).await;
    assert_eq!((code(&nameless), twin.request_count()), (Some(Code::ContactRequired), 0));
    let resolver = loom_secrets::Resolver::of_process(loom_secrets::Redactor::new());
    let of_environment =
        world().with_credentials(resolver, |name| (name == contact::VARIABLE).then(|| CONTACT.to_owned()));
    let capability = FinanceProbe::new();
    assert!(crate::run(&of_environment, &capability, nobody, None, &mut NoObserver).await.unwrap().ok);
    for (operation, input) in [
        ("filing", json!({"ticker": "AAPL", "document": true})),
        ("filings", json!({"ticker": "AAPL", "limit": 300})),
        ("facts", json!({"cik": "320193", "concept": "us-gaap:Assets"})),
        ("facts", json!({"cik": "320193"})),
    ] {
        assert!(ask(&twin, operation, input).await.ok, "{operation}");
    }
    let requests = twin.requests();
    assert!(requests.len() >= 10 && requests.iter().all(|one| one.header("user-agent") == Some(AGENT)));
}

/// CAP-101: an unknown ticker names near ones; other inputs are judged before a socket.
#[tokio::test]
async fn cap_101_an_unknown_ticker_names_near_ones() {
    let twin = twin().await;
    let error = ask(&twin, "company", json!({"ticker": "AAPK"})).await.error.unwrap();
    assert_eq!((error.code, &error.detail["nearest"][0]), (Code::UnknownTicker, &json!("AAPL")));
    assert_eq!(error.detail["nearest"].as_array().unwrap().len(), 5);
    let before = twin.request_count();
    for (operation, input, pointer) in [
        ("company", json!({"ticker": "A B"}), "/ticker"),
        ("company", json!({"ticker": "AAPL", "cik": "1"}), "/cik"),
        ("company", json!({"contact": CONTACT}), "/ticker"),
        ("filings", json!({"ticker": "AAPL", "form": ["10_K"]}), "/form"),
        ("filings", json!({"ticker": "AAPL", "since": "yesterday"}), "/since"),
        ("filing", json!({"ticker": "AAPL", "accession": "1-2-3"}), "/accession"),
        ("filing", json!({"ticker": "AAPL", "document_out": "x.htm"}), "/document_out"),
        ("facts", json!({"ticker": "AAPL", "concept": "us-gaap/../x"}), "/concept"),
        ("facts", json!({"ticker": "AAPL", "form": ["10-K"]}), ""),
    ] {
        let request = request(&twin, operation, input);
        let error = crate::run(&world(), &FinanceProbe::new(), request, None, &mut NoObserver).await;
        let error = error.err().unwrap();
        assert_eq!(
            (error.code, &error.detail["pointer"]),
            (Code::InvalidInput, &json!(pointer)),
            "{operation}"
        );
    }
    assert_eq!(twin.request_count(), before);
}

/// The list of tickers is fresh for a day, and says how old it is.
#[tokio::test]
async fn tickers_are_read_once_a_day() {
    let (twin, world) = (twin().await, world());
    for _ in 0..3 {
        assert!(ask_in(&world, &twin, "company", json!({"ticker": "IBM"})).await.ok);
    }
    assert_eq!(twin.requests_to("/company_tickers.json").len(), 1);
    let again = ask_in(&world, &twin, "company", json!({"ticker": "GE"})).await;
    assert_eq!((again.source_refs[0].from_cache, again.source_refs[1].from_cache), (true, false));
    let day_ago = world.clock.now().0 - 25 * 3_600_000;
    let name = format!("finance_probe/{}/files/company_tickers.json", twin.base_url());
    let mut kept = world.scratch.get(&name).unwrap();
    kept["read_at"] = json!(day_ago + 2 * 3_600_000);
    world.scratch.put(&name, kept.clone());
    let older = ask_in(&world, &twin, "company", json!({"ticker": "GE"})).await;
    assert!((23 * 3_600..23 * 3_600 + 60).contains(&older.source_refs[0].age_seconds));
    kept["read_at"] = json!(day_ago);
    world.scratch.put(&name, kept);
    assert!(ask_in(&world, &twin, "company", json!({"ticker": "GE"})).await.ok);
    assert_eq!(twin.requests_to("/company_tickers.json").len(), 2);
    for (cache, asked) in [(CacheMode::NoCache, 3), (CacheMode::Refresh, 4), (CacheMode::Use, 4)] {
        let world = World { cache, ..world.clone() };
        assert!(ask_in(&world, &twin, "company", json!({"ticker": "GE"})).await.ok);
        assert_eq!(twin.requests_to("/company_tickers.json").len(), asked, "CAP-047: {cache:?}");
    }
}

/// CAP-020: a plan names both hosts and opens nothing.
#[tokio::test]
async fn cap_020_a_plan_opens_nothing() {
    let plan = |operation: &str, input: Value| {
        let request = RunRequest { operation: operation.to_owned(), input, ..RunRequest::default() };
        crate::plan(&world(), &FinanceProbe::new(), request).unwrap()
    };
    let filings = plan("filings", json!({"ticker": "brk/b"}));
    let urls: Vec<&str> = filings.requests.iter().map(|request| request.url.as_str()).collect();
    assert_eq!(
        urls,
        ["https://www.sec.gov/files/company_tickers.json", "https://data.sec.gov/submissions/CIK{cik}.json"]
    );
    assert!(filings.hosts.iter().all(|host| host.verdict == "allowed"));
    assert_eq!(
        (&filings.resources["company"], filings.rate_scope.as_deref()),
        (&"BRK-B".to_owned(), Some("sec"))
    );
    let facts = plan("facts", json!({"cik": "77", "concept": "dei:X"}));
    assert_eq!(
        facts.requests[0].url,
        "https://data.sec.gov/api/xbrl/companyconcept/CIK0000000077/dei/X.json"
    );
}
