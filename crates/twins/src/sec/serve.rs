//! One request from its arrival to its answer.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use super::builder::{Builder, Knobs};
use super::company::{self, Company};
use super::fault::FaultAction;
use super::show;
use crate::front::answer::{Answer, Outcome};
use crate::front::{Call, Faults, Ledger, Service};

/// The window of the fair-access rule.
pub(super) const SECOND: Duration = Duration::from_secs(1);

/// Everything a twin knows.
#[derive(Debug)]
pub(super) struct World {
    pub(super) companies: Vec<Company>,
    pub(super) knobs: Knobs,
    blocked_until: Option<Instant>,
    /// Requests that came while the client was too fast, or blocked for it.
    pub(super) blocked: u64,
}

/// A twin at work.
#[derive(Debug)]
pub(super) struct Edgar {
    world: Mutex<World>,
    pub(super) ledger: Ledger,
    pub(super) faults: Faults<FaultAction>,
}

impl World {
    pub(super) fn new(builder: Builder) -> Self {
        let mut companies = company::known(builder.seed);
        for company in builder.companies {
            companies.retain(|known| known.cik != company.cik);
            companies.push(company);
        }
        Self { companies, knobs: builder.knobs, blocked_until: None, blocked: 0 }
    }

    /// A company by CIK.
    pub(super) fn company(&self, cik: u64) -> Option<&Company> {
        self.companies.iter().find(|company| company.cik == cik)
    }

    /// Whether a client that has sent so many requests in a second is refused. A block is not lengthened by asking.
    fn is_blocked(&mut self, in_second: usize, now: Instant) -> bool {
        if in_second > self.knobs.per_second_max {
            self.blocked_until = Some(now + self.knobs.blocked_for);
        }
        let is_blocked = self.blocked_until.is_some_and(|until| now < until);
        self.blocked += u64::from(is_blocked);
        is_blocked
    }

    /// Ends a block.
    pub(super) fn unblock(&mut self) {
        self.blocked_until = None;
        self.blocked = 0;
    }
}

/// What a path leads to.
enum Found {
    Json(Value),
    Page(String),
    Nothing,
}

impl Edgar {
    pub(super) fn new(world: World) -> Self {
        Self { world: Mutex::new(world), ledger: Ledger::new(), faults: Faults::default() }
    }

    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn written(&self, call: &Call, fault: Option<&FaultAction>, in_second: usize) -> Answer {
        let mut world = self.world();
        if world.is_blocked(in_second, Instant::now()) {
            return too_fast();
        }
        if let Some(refusal) = fault.and_then(refusal) {
            return refusal;
        }
        if !has_contact(call.header("user-agent").unwrap_or_default()) {
            return refused_page("Your Request Originates from an Undeclared Automated Tool");
        }
        if call.method != http::Method::GET && call.method != http::Method::HEAD {
            return Answer::text(405, "Method Not Allowed");
        }
        let answer = match find(&world, &call.path) {
            Found::Json(mut body) => {
                if let Some(fault) = fault {
                    fault.bend(&mut body);
                }
                let text = show::text(&body);
                Answer {
                    body: Bytes::from(text),
                    content_type: "application/json".into(),
                    ..Answer::text(200, "")
                }
            }
            Found::Page(page) => Answer::html(200, &page),
            Found::Nothing => return not_found(&call.path),
        };
        conditional(answer, call)
    }
}

/// Gives an answer its `ETag`, or 304 when the client has it already.
fn conditional(answer: Answer, call: &Call) -> Answer {
    let tag = format!("\"{}\"", hex::encode(Sha256::digest(&answer.body)).get(..32).unwrap_or_default());
    let is_known = call.header("if-none-match").is_some_and(|tags| tags.contains(&tag));
    let answer = answer.with_header("etag", tag);
    if is_known { Answer { status: 304, body: Bytes::new(), ..answer } } else { answer }
}

fn find(world: &World, path: &str) -> Found {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let company = |cik: &str| world.company(cik.parse().ok()?);
    let json = |body: Option<Value>| body.map_or(Found::Nothing, Found::Json);
    match parts.as_slice() {
        ["files", "company_tickers.json"] => Found::Json(show::tickers(&world.companies)),
        ["submissions", file] => json(submissions(world, file)),
        ["api", "xbrl", "companyfacts", file] => json(named(file).and_then(company).and_then(show::facts)),
        ["api", "xbrl", "companyconcept", cik, taxonomy, tag] => {
            let tag = tag.strip_suffix(".json").unwrap_or_default();
            let company = digits(cik).and_then(company);
            json(company.and_then(|company| show::concept(company, taxonomy, tag)))
        }
        ["Archives", "edgar", "data", cik, folder, rest @ ..] => {
            let Some(company) = company(cik) else { return Found::Nothing };
            let filing = company.filings.iter().find(|filing| filing.folder() == *folder);
            let name = rest.join("/");
            match filing {
                Some(filing)
                    if name == filing.document || name == format!("{}-index.htm", filing.accession) =>
                {
                    Found::Page(show::document(company, filing))
                }
                _ => Found::Nothing,
            }
        }
        _ => Found::Nothing,
    }
}

/// `CIK##########.json`, or a page of older filings.
fn submissions(world: &World, file: &str) -> Option<Value> {
    if let Some(cik) = named(file) {
        return Some(show::submissions(world.company(cik.parse().ok()?)?, &world.knobs));
    }
    let (cik, number) = file.strip_suffix(".json")?.split_once("-submissions-")?;
    let company = world.company(digits(cik)?.parse().ok()?)?;
    show::page(company, &world.knobs, number.parse().ok().filter(|_| number.len() == 3)?)
}

fn named(file: &str) -> Option<&str> {
    digits(file.strip_suffix(".json")?)
}

/// The ten digits of `CIK##########`.
fn digits(cik: &str) -> Option<&str> {
    cik.strip_prefix("CIK").filter(|digits| digits.len() == 10 && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// A name and an e-mail address («Accessing EDGAR Data»: `Sample Company Name AdminContact@<sample company domain>.com`).
fn has_contact(agent: &str) -> bool {
    let is_mail = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        word.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'))
    };
    agent.split_whitespace().any(is_mail) && agent.split_whitespace().count() > 1
}

fn refused_page(title: &str) -> Answer {
    Answer::html(
        403,
        &format!(
            "<!DOCTYPE html><html><head><title>SEC.gov | {title}</title></head><body><h1>{title}</h1></body></html>"
        ),
    )
}

fn too_fast() -> Answer {
    refused_page("Request Rate Threshold Exceeded")
}

fn not_found(path: &str) -> Answer {
    if path.starts_with("/files/") || path.starts_with("/Archives/") {
        return Answer::html(404, "<!DOCTYPE html><title>404 - Not Found</title>");
    }
    let body = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>NoSuchKey</Code><Message>The specified key does \
                not exist.</Message></Error>";
    Answer { content_type: "application/xml".into(), ..Answer::text(404, body) }
}

fn refusal(fault: &FaultAction) -> Option<Answer> {
    let later = |answer: Answer, secs: &Option<u64>| match secs {
        Some(secs) => answer.with_header("retry-after", secs.to_string()),
        None => answer,
    };
    Some(match fault {
        FaultAction::Blocked { retry_after_secs } => later(too_fast(), retry_after_secs),
        FaultAction::TooMany { retry_after_secs } => {
            later(Answer::html(429, "<title>Too Many Requests</title>"), retry_after_secs)
        }
        FaultAction::NotFound => Answer::html(404, "<title>404 - Not Found</title>"),
        FaultAction::Server { status } => Answer::html(*status, "<title>Service Unavailable</title>"),
        _ => return None,
    })
}

impl Service for Edgar {
    async fn answer(&self, call: Call) -> Outcome {
        if call.path.starts_with("/twin/") {
            return Outcome::Answer(crate::front::control(&call, &self.ledger, &self.faults));
        }
        let mut visit = self.ledger.arrive(&call, &call.path);
        let in_second = self.ledger.recent(SECOND);
        let latency = self.world().knobs.latency;
        tokio::time::sleep(latency).await;
        let fault = self.faults.take(call.method.as_str(), &call.path);
        match &fault {
            Some(FaultAction::Delay { ms }) => tokio::time::sleep(Duration::from_millis(*ms)).await,
            Some(FaultAction::Hang) => std::future::pending().await,
            Some(FaultAction::Drop) => return Outcome::Close,
            _ => {}
        }
        let answer = self.written(&call, fault.as_ref(), in_second);
        match fault {
            Some(FaultAction::Cut { bytes }) => Outcome::Truncated(answer, bytes),
            _ => {
                visit.answered(answer.status);
                Outcome::Answer(answer)
            }
        }
    }
}
