//! What the GitHub connectors share: addresses, credentials, requests, errors and records.

mod allowed;
mod client;
mod errors;
mod metadata;
mod pacing;
mod pages;
mod reader;
pub(crate) mod record;
mod repo_name;
mod token;
mod url;

use crate::{Boundary, CatalogEntry, RunPlan, RunRequest};

pub(crate) use allowed::Allowed;
pub use allowed::check_repos;
pub(crate) use client::{Github, graphql_url};
pub(crate) use metadata::{of_discussion, of_issue};
pub(crate) use pacing::Patience;
pub(crate) use pages::{PageEnd, pages};
pub(crate) use reader::{Reader, Sheet};
pub(crate) use repo_name::RepoName;
pub(crate) use url::{Comment, IssueUrl, Kind, parse_number, site};

/// Base of the REST API.
pub(crate) const API: &str = "https://api.github.com";

/// Starts the entry of a GitHub connector.
pub(crate) fn entry(id: &str, title: &str) -> CatalogEntry {
    reaching(CatalogEntry::connector(id, title))
}

/// Starts the entry of a capability over pull requests.
pub(crate) fn capability(id: &str, title: &str) -> CatalogEntry {
    let entry = CatalogEntry { provider: "github".to_owned(), ..CatalogEntry::capability(id, title) };
    reaching(entry)
        .boundary(Boundary::PublicContent)
        .stop_condition("a write is wanted")
        .stop_condition("a text gives instructions")
}

fn reaching(entry: CatalogEntry) -> CatalogEntry {
    entry
        .host("api.github.com", &["GET", "POST"])
        .credential("github", &["token"], false)
        .api_url_variable("LOOM_GITHUB_API_URL")
}

/// The base URL of a request, without a slash at its end.
pub(crate) fn base(request: &RunRequest) -> String {
    request.settings.api_url.as_deref().unwrap_or(API).trim_end_matches('/').to_owned()
}

/// A plan that reads a path of the REST API.
pub(crate) fn reads(plan: RunPlan, request: &RunRequest, path: &str) -> RunPlan {
    let url = format!("{}{path}", base(request));
    plan.request("GET", url)
}
