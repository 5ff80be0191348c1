//! `github_reply_monitor`: who answered below a comment, counted and dated; never what they wrote.

mod input;
mod output;
mod replies;

use async_trait::async_trait;
use loom_domain::{Code, Error, Result};
use serde_json::Value;

use crate::github::{self, Comment, Github, IssueUrl, Kind, PageEnd};
use crate::{
    Boundary, Capability, CatalogEntry, Cx, Operation, RunOutcome, RunPlan, RunRequest, Sink, SourceRef,
    StopReason, read_input,
};
use input::MonitorInput;
use output::MonitorFields;
use replies::Replies;

/// Pages that are read unless told otherwise.
const PAGES: u32 = 30;

/// The connector.
#[derive(Debug)]
pub struct GithubReplyMonitor {
    entry: CatalogEntry,
}

impl GithubReplyMonitor {
    /// Makes it.
    pub fn new() -> Self {
        let probe = Operation::record::<MonitorInput, MonitorFields>("probe", "loom.github_replies/v1")
            .about("Count and date the replies after a comment")
            .resource("repo")
            .rate_scope("github");
        let entry = github::entry("github_reply_monitor", "Replies after a GitHub comment")
            .alias("github_public_reply_monitor")
            .boundary(Boundary::PublicMetadata)
            .operation(probe)
            .stop_condition("authentication needed")
            .stop_condition("body text wanted")
            .examples(
                "value-connectors github-reply-monitor \\\n    --issue-url https://github.com/o/r/issues/1 \\\n    \
                 --after-comment-url https://github.com/o/r/issues/1#issuecomment-2 \\\n    --fetch-metadata",
                "value-connectors show github_reply_monitor",
            );
        GithubReplyMonitor { entry }
    }
}

impl Default for GithubReplyMonitor {
    fn default() -> Self {
        GithubReplyMonitor::new()
    }
}

/// What is watched.
struct Target {
    issue: IssueUrl,
    anchor: Comment,
    given: Option<Vec<Value>>,
    max_pages: u32,
}

#[async_trait]
impl Capability for GithubReplyMonitor {
    fn entry(&self) -> &CatalogEntry {
        &self.entry
    }

    fn plan(&self, request: &RunRequest) -> Result<RunPlan> {
        let target = target(request)?;
        let plan = RunPlan::of(&self.entry, request)?.resource("repo", target.issue.repo_key());
        if target.given.is_some() {
            return Ok(plan);
        }
        let plan = github::reads(plan, request, &comment_path(&target.anchor));
        Ok(github::reads(plan, request, &comments_path(&target.issue)))
    }

    async fn run(&self, cx: &Cx, request: RunRequest, out: &mut dyn Sink) -> Result<RunOutcome> {
        let mut target = target(&request)?;
        let mut replies = Replies::after(target.anchor.id);
        let end = match target.given.take() {
            Some(comments) => {
                replies.find_anchor(&comments);
                comments.iter().for_each(|comment| replies.take(comment));
                PageEnd::Complete
            }
            None => fetch(cx, &target, &mut replies, out).await?,
        };
        let complete = end == PageEnd::Complete;
        let (fields, warnings) = replies.fields(complete);
        out.fields(fields);
        let source = SourceRef::new(
            target.issue.kind.source_kind(),
            target.issue.name(),
            Some(target.issue.url()),
            cx.now(),
        );
        let stop_reason = if complete { StopReason::End } else { StopReason::MaxPages };
        Ok(RunOutcome { stop_reason, warnings, ..RunOutcome::of(source) })
    }
}

async fn fetch(cx: &Cx, target: &Target, replies: &mut Replies, out: &mut dyn Sink) -> Result<PageEnd> {
    let github = Github::open(cx).await?;
    let anchor = match github.get(&github.url(&comment_path(&target.anchor))).await {
        Ok(response) => response.json::<Value>()?,
        Err(error) if matches!(error.http_status, Some(404 | 410)) => return Ok(PageEnd::Complete),
        Err(error) => return Err(error),
    };
    if !stands_below(&anchor, &target.issue) {
        return Ok(PageEnd::Complete);
    }
    let Some(since) = replies.anchored(&anchor) else { return Ok(PageEnd::Complete) };
    let first = format!("{}?since={since}&per_page=100", github.url(&comments_path(&target.issue)));
    let mut seen = 0;
    github::pages(&github, first, target.max_pages, |comments| {
        seen += comments.len() as u64;
        comments.iter().for_each(|comment| replies.take(comment));
        out.progress(seen, None);
    })
    .await
}

/// Ids of comments count through all repositories: one of another issue is no anchor here.
fn stands_below(comment: &Value, issue: &IssueUrl) -> bool {
    let url = comment.get("issue_url").and_then(Value::as_str).unwrap_or_default();
    url.to_ascii_lowercase().ends_with(&issue.api_path().to_ascii_lowercase())
}

fn comment_path(comment: &Comment) -> String {
    format!("/repos/{}/{}/issues/comments/{}", comment.issue.owner, comment.issue.repo, comment.id)
}

fn comments_path(issue: &IssueUrl) -> String {
    format!("{}/comments", issue.api_path())
}

fn target(request: &RunRequest) -> Result<Target> {
    let input: MonitorInput = read_input(request)?;
    let missing =
        |pointer: &str, what: &str| Error::new(Code::InvalidInput, what).with_detail("pointer", pointer);
    let site = github::site(request.settings.api_url.as_deref());
    let issue = input
        .issue_url
        .ok_or_else(|| missing("/issue_url", "the URL of an issue or pull request is needed"))?;
    let issue = IssueUrl::parse(&issue, &site)?;
    let after = input
        .after_comment_url
        .ok_or_else(|| missing("/after_comment_url", "the URL of a comment is needed"))?;
    let anchor = Comment::parse(&after, &site)?;
    let broken = |why: &str, rule: &str| Error::new(Code::InvalidUrl, why).with_detail("rule", rule);
    if issue.kind == Kind::Discussion {
        return Err(broken("replies of discussions are not read", "path"));
    }
    let same = anchor.issue.repo_key() == issue.repo_key() && anchor.issue.number == issue.number;
    if !same || anchor.issue.kind != issue.kind {
        return Err(broken("the comment stands below another issue", "mismatch"));
    }
    let given = match (input.fetch_metadata, input.metadata_json) {
        (true, None) => None,
        (false, Some(document)) => Some(comments_of(document)?),
        (true, Some(_)) => return Err(missing("/metadata_json", "either read, or give comments; not both")),
        (false, None) => {
            return Err(missing(
                "/fetch_metadata",
                "say --fetch-metadata, or give comments with --metadata-json",
            ));
        }
    };
    Ok(Target { issue, anchor, given, max_pages: input.max_pages.unwrap_or(PAGES) })
}

/// An array of comments, or an object with `comments`.
fn comments_of(mut document: Value) -> Result<Vec<Value>> {
    let list = match document.get_mut("comments") {
        Some(comments) => comments.take(),
        None => document,
    };
    match list {
        Value::Array(comments) => Ok(comments),
        _ => {
            Err(Error::new(Code::InvalidInput, "expected an array of comments, or an object with `comments`")
                .with_detail("pointer", "/metadata_json"))
        }
    }
}

#[cfg(test)]
mod tests;
