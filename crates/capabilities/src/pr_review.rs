//! `pr_review`: the pull requests of repositories with what people and machines say about them. It only reads.

mod checks;
mod facts;
mod filter;
mod input;
mod output;
mod pull;
mod queue;
mod read;
mod record;
mod records;
mod reviews;
mod scan;
mod threads;
mod walk;

use async_trait::async_trait;
use loom_domain::{Code, Error, Result};
use serde_json::Value;

use crate::github::{self, Allowed, Patience, Reader, RepoName};
use crate::{
    Capability, CatalogEntry, Cx, Operation, RunOutcome, RunPlan, RunRequest, Sink, SourceRef, read_input,
};
pub(crate) use facts::Facts;
use filter::Filter;
use input::{ChecksInput, Detail, HandledInput, ScanInput, ThreadsInput};
use pull::Pull;
use read::{Details, Parts};
use records::Records;
use scan::Order;

/// Requests in flight of the operations about one pull request, which wait for no window.
const PATIENCE: Patience = Patience { concurrency: 8, reset_wait_max: None };

/// The capability.
#[derive(Debug)]
pub struct PrReview {
    entry: CatalogEntry,
    allowed: Allowed,
}

impl PrReview {
    /// Makes it, for every repository.
    pub fn new() -> Self {
        let scan = Operation::list::<ScanInput, output::Record>("scan", "loom.pr_record/v1")
            .about("List pull requests, with as much detail as asked for")
            .with_fields::<output::QueueFields>()
            .paged()
            .resource("repo")
            .rate_scope("github");
        let threads =
            Operation::record::<ThreadsInput, output::ThreadsFields>("threads", "loom.pr_threads/v1")
                .about("Read the inline comments of one pull request")
                .resource("repo")
                .rate_scope("github");
        let checks = Operation::record::<ChecksInput, output::ChecksFields>("checks", "loom.pr_checks/v1")
            .about("Roll the checks of one pull request up")
            .resource("repo")
            .rate_scope("github");
        let handled = Operation::record::<HandledInput, queue::Receipt>("handled", "loom.pr_receipt/v1")
            .about("Note that an offered head was dealt with")
            .resource("repo")
            .rate_scope("github");
        let entry = github::capability("pr_review", "Pull requests of GitHub")
            .operation(scan)
            .operation(threads)
            .operation(checks)
            .operation(handled)
            .examples(
                "capability run pr_review --repo owner/repo \\\n    --filter \"open -draft checks:passing\"",
                "capability run pr_review --repo owner/repo --queue",
            );
        PrReview { entry, allowed: Allowed::default() }
    }

    /// Takes these repositories only, `OWNER/REPO` or `OWNER/*`, whoever asks.
    pub fn limited_to(mut self, repos: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.allowed = Allowed::only(repos);
        self
    }

    /// The repository of a text, when it is allowed.
    fn repo(&self, text: &str, request: &RunRequest) -> Result<RepoName> {
        let repo = RepoName::parse(text, &github::site(request.settings.api_url.as_deref()))?;
        self.allowed.check(&repo)?;
        Ok(repo)
    }

    fn order(&self, request: &RunRequest) -> Result<(ScanInput, Order)> {
        let input: ScanInput = read_input(request)?;
        let mut repos: Vec<RepoName> = Vec::new();
        for text in &input.repo {
            let repo = self.repo(text, request)?;
            if !repos.iter().any(|known| known.key() == repo.key()) {
                repos.push(repo);
            }
        }
        queue::check(&input, request)?;
        let filter = Filter::parse(input.filter.as_deref().unwrap_or_default())?;
        let least = if input.queue { Detail::Standard } else { Detail::List };
        let order = Order { repos, filter, detail: input.detail.max(least) };
        Ok((input, order))
    }

    /// The repository and number of an operation about one pull request.
    fn target(&self, request: &RunRequest) -> Result<(RepoName, u64)> {
        if request.operation == "handled" {
            let input: HandledInput = read_input(request)?;
            return self.head(&input.key, request);
        }
        let text = request.input.get("repo").and_then(Value::as_str).unwrap_or_default();
        let number = request.input.get("number").and_then(Value::as_u64).unwrap_or_default();
        Ok((self.repo(text, request)?, number))
    }

    /// The repository and number in `HOST/OWNER/REPO#N@OID`.
    fn head(&self, key: &str, request: &RunRequest) -> Result<(RepoName, u64)> {
        let wrong = || {
            Error::new(Code::InvalidInput, "expected a key such as github.com/owner/repo#12@OID")
                .with_detail("pointer", "/key")
        };
        let (name, rest) = key.split_once('#').ok_or_else(wrong)?;
        let (number, oid) = rest.split_once('@').ok_or_else(wrong)?;
        let is_oid = matches!(oid.len(), 40 | 64) && oid.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = number.parse::<u64>().ok().filter(|number| *number > 0 && is_oid).ok_or_else(wrong)?;
        Ok((self.repo(&format!("https://{name}"), request)?, number))
    }

    async fn handled(&self, cx: &Cx, request: &RunRequest, out: &mut dyn Sink) -> Result<RunOutcome> {
        let input: HandledInput = read_input(request)?;
        let (repo, number) = self.head(&input.key, request)?;
        let mut file = queue::QueueFile::open(cx, input.state_file.as_deref(), &repo.name())?;
        let mut state = file.read(&repo.name())?;
        let (_, pull) = one(cx, &repo, number).await?;
        let current = record::key(&repo, &pull);
        let who = cx.principal().to_string();
        let receipt = queue::handled(&mut state, &input, &current, &who, cx.now())?;
        file.replace(&state)?;
        out.fields(serde_json::to_value(receipt).map_err(Error::internal)?);
        Ok(RunOutcome::of(source(cx, &repo, &pull)))
    }

    async fn threads(&self, cx: &Cx, request: &RunRequest, out: &mut dyn Sink) -> Result<RunOutcome> {
        let input: ThreadsInput = read_input(request)?;
        let repo = self.repo(&input.repo, request)?;
        let (reader, pull) = one(cx, &repo, input.number).await?;
        let mut details = Details::default();
        read::read_threads(&reader, &repo, pull.number, &mut details).await?;
        let bodies = input.detail == Detail::Full;
        let fields = read::threads_fields(record::key(&repo, &pull), &pull.head.oid, details, bodies);
        out.fields(serde_json::to_value(fields).map_err(Error::internal)?);
        Ok(RunOutcome::of(source(cx, &repo, &pull)))
    }

    async fn checks(&self, cx: &Cx, request: &RunRequest, out: &mut dyn Sink) -> Result<RunOutcome> {
        let input: ChecksInput = read_input(request)?;
        let repo = self.repo(&input.repo, request)?;
        let (reader, pull) = one(cx, &repo, input.number).await?;
        let mut details = Details::default();
        read::read_checks(&reader, &repo, &pull.head.oid, &mut details).await?;
        let fields = read::checks_fields(record::key(&repo, &pull), details);
        out.fields(serde_json::to_value(fields).map_err(Error::internal)?);
        Ok(RunOutcome::of(source(cx, &repo, &pull)))
    }
}

/// Whether a text is a filter.
pub(crate) fn check_filter(text: &str) -> Result<()> {
    Filter::parse(text).map(drop)
}

/// The record of one pull request, with standard detail.
pub(crate) async fn read_one(reader: &Reader<'_>, repo: &RepoName, number: u64) -> Result<Value> {
    let url = reader.url(&format!("{}/pulls/{number}", repo.api_path()));
    let pull = reader.read(&url, pull::WHOLE, pull::whole).await?.value.pull;
    let mut details = Details::default();
    read::read(reader, repo, &pull, Parts::of(Detail::Standard), &mut details).await?;
    serde_json::to_value(record::record(repo, pull, details, Detail::Standard)).map_err(Error::internal)
}

/// The records of those that a filter finds, with standard detail, and whether there are no more.
pub(crate) async fn find(
    cx: &Cx,
    repo: &RepoName,
    filter: &str,
    limit: u32,
    request: &RunRequest,
) -> Result<(Vec<Value>, bool)> {
    let order = Order { repos: vec![repo.clone()], filter: Filter::parse(filter)?, detail: Detail::Standard };
    let mut records = Records::up_to(limit);
    let plain = RunRequest { cursor: None, ..request.clone() };
    let outcome = Box::pin(scan::scan(cx, order, PATIENCE, &plain, &mut records)).await?;
    Ok((records.list, outcome.stop_reason == crate::StopReason::End))
}

/// Reads one pull request for its head.
async fn one<'a>(cx: &'a Cx, repo: &RepoName, number: u64) -> Result<(Reader<'a>, Pull)> {
    let reader = Reader::open(cx, PATIENCE).await?;
    let url = reader.url(&format!("{}/pulls/{number}", repo.api_path()));
    let pull = reader.read(&url, pull::WHOLE, pull::whole).await?.value.pull;
    Ok((reader, pull))
}

fn source(cx: &Cx, repo: &RepoName, pull: &Pull) -> SourceRef {
    let name = format!("{}#{}", repo.name(), pull.number);
    let url = format!("{}/pull/{}", repo.url(), pull.number);
    SourceRef::new("github_pull", name, Some(url), cx.now())
}

impl Default for PrReview {
    fn default() -> Self {
        PrReview::new()
    }
}

#[async_trait]
impl Capability for PrReview {
    fn entry(&self) -> &CatalogEntry {
        &self.entry
    }

    fn plan(&self, request: &RunRequest) -> Result<RunPlan> {
        let plan = RunPlan::of(&self.entry, request)?;
        if request.operation != "scan" {
            let (repo, number) = self.target(request)?;
            let path = format!("{}/pulls/{number}", repo.api_path());
            return Ok(github::reads(plan.resource("repo", repo.key()), request, &path));
        }
        let (_, order) = self.order(request)?;
        let state = order.filter.list_state();
        let keys: Vec<String> = order.repos.iter().map(RepoName::key).collect();
        let plan = plan.resource("repo", keys.join(","));
        let list = |repo: &RepoName| {
            format!("{}/pulls?state={state}&sort=created&direction=asc&per_page=100", repo.api_path())
        };
        Ok(order.repos.iter().fold(plan, |plan, repo| github::reads(plan, request, &list(repo))))
    }

    async fn run(&self, cx: &Cx, request: RunRequest, out: &mut dyn Sink) -> Result<RunOutcome> {
        match request.operation.as_str() {
            "threads" => Box::pin(self.threads(cx, &request, out)).await,
            "checks" => Box::pin(self.checks(cx, &request, out)).await,
            "handled" => Box::pin(self.handled(cx, &request, out)).await,
            _ => {
                let (input, order) = self.order(&request)?;
                match input.queue {
                    true => Box::pin(queue::observe(cx, order, &input, &request, out)).await,
                    false => Box::pin(scan::scan(cx, order, scan::patience(&input), &request, out)).await,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
