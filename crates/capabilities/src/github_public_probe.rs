//! `github_public_probe`: what a public issue, pull request or discussion says about itself; never its text.

mod input;
mod output;

use async_trait::async_trait;
use loom_domain::{Code, Error, Result};
use serde_json::{Value, json};

use crate::github::{self, Github, IssueUrl, Kind};
use crate::{
    Boundary, Capability, CatalogEntry, Cx, Operation, RunOutcome, RunPlan, RunRequest, Sink, SourceRef,
    read_input,
};
use input::ProbeInput;
use output::ProbeFields;

/// Constant: whatever an address holds, it stands in the variables.
const DISCUSSION: &str = "query($owner:String!,$name:String!,$number:Int!){repository(owner:$owner,name:$name){\
discussion(number:$number){title number locked url createdAt updatedAt closed closedAt stateReason isAnswered \
upvoteCount authorAssociation author{__typename login ...on User{databaseId} ...on Bot{databaseId}} category{name} \
labels(first:100){nodes{name}} comments{totalCount}}}}";

/// The connector.
#[derive(Debug)]
pub struct GithubPublicProbe {
    entry: CatalogEntry,
}

impl GithubPublicProbe {
    /// Makes it.
    pub fn new() -> Self {
        let probe = Operation::record::<ProbeInput, ProbeFields>("probe", "loom.github_metadata/v1")
            .about("Parse the URL, and read its metadata if asked to")
            .resource("repo")
            .rate_scope("github");
        let entry = github::entry("github_public_probe", "Public GitHub metadata")
            .alias("github_public_channel")
            .boundary(Boundary::PublicMetadata)
            .operation(probe)
            .stop_condition("authentication needed")
            .stop_condition("body text wanted")
            .examples(
                "value-connectors github-public-probe \\\n    --url https://github.com/owner/repo/issues/123 --format json",
                "value-connectors github-public-probe \\\n    --url https://github.com/owner/repo/pull/7 --fetch-metadata",
            );
        GithubPublicProbe { entry }
    }
}

impl Default for GithubPublicProbe {
    fn default() -> Self {
        GithubPublicProbe::new()
    }
}

#[async_trait]
impl Capability for GithubPublicProbe {
    fn entry(&self) -> &CatalogEntry {
        &self.entry
    }

    fn plan(&self, request: &RunRequest) -> Result<RunPlan> {
        let (input, url) = target(request)?;
        let plan = RunPlan::of(&self.entry, request)?.resource("repo", url.repo_key());
        Ok(match (input.fetch_metadata, url.kind) {
            (false, _) => plan,
            (true, Kind::Discussion) => plan.request("POST", github::graphql_url(&github::base(request))),
            (true, Kind::Issue | Kind::Pull) => github::reads(plan, request, &url.api_path()),
        })
    }

    async fn run(&self, cx: &Cx, request: RunRequest, out: &mut dyn Sink) -> Result<RunOutcome> {
        let (input, url) = target(&request)?;
        let metadata = match input.fetch_metadata {
            true => read(cx, &url).await?,
            false => Value::Null,
        };
        let next_step =
            metadata.is_null().then_some("add --fetch-metadata to read title, state, labels and dates");
        out.fields(json!({"ref": url, "metadata": metadata, "next_step": next_step}));
        let kind = url.kind.source_kind();
        Ok(RunOutcome::of(SourceRef::new(kind, url.name(), Some(url.url()), cx.now())))
    }
}

async fn read(cx: &Cx, url: &IssueUrl) -> Result<Value> {
    let github = Github::open(cx).await?;
    if url.kind != Kind::Discussion {
        let response = github.get(&github.url(&url.api_path())).await?;
        return Ok(github::of_issue(response.json()?, url.kind));
    }
    if !github.has_token() {
        return Err(Error::new(Code::NotReady, "discussions are read with a token only")
            .with_hint("set GITHUB_TOKEN, or give --credential-ref")
            .with_detail("readiness", "credential_missing"));
    }
    let variables = json!({"owner": url.owner, "name": url.repo, "number": url.number});
    let data = github.query(DISCUSSION, &variables).await?;
    match data.pointer("/repository/discussion").filter(|found| !found.is_null()) {
        Some(discussion) => Ok(github::of_discussion(discussion)),
        None => Err(Error::new(Code::ProviderHttpError, "GitHub knows no such discussion")
            .with_detail("kind", "not_found")
            .with_detail("maybe_private", true)),
    }
}

fn target(request: &RunRequest) -> Result<(ProbeInput, IssueUrl)> {
    let input: ProbeInput = read_input(request)?;
    let text = input
        .url
        .as_deref()
        .ok_or_else(|| Error::new(Code::InvalidInput, "an URL is needed").with_detail("pointer", "/url"))?;
    let url = IssueUrl::parse(text, &github::site(request.settings.api_url.as_deref()))?;
    Ok((input, url))
}

#[cfg(test)]
mod tests;
