//! Paths: what a request is about.

use super::world::World;

/// Owner and name of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RepoPath {
    pub(super) owner: String,
    pub(super) name: String,
}

impl RepoPath {
    pub(super) fn full_name(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }
}

/// What a path names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    Graphql,
    User,
    RateLimit,
    Repo(RepoPath),
    Pulls(RepoPath),
    Pull(RepoPath, u64),
    Reviews(RepoPath, u64),
    ReviewComments(RepoPath, u64),
    Files(RepoPath, u64),
    CheckRuns(RepoPath, String),
    Status(RepoPath, String),
    Issue(RepoPath, u64),
    IssueComments(RepoPath, u64),
    IssueComment(RepoPath, u64),
    Unknown,
}

/// A path below one of the two bases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// Base of the API that was asked: nothing, or `/api/v3`.
    pub(super) prefix: &'static str,
    /// The path as in the reference, with names in place of repository ids.
    pub(super) canonical: String,
    pub(super) route: Route,
}

impl Target {
    pub(super) fn of(path: &str, world: &World) -> Self {
        let (prefix, rest) = match path.strip_prefix("/api/v3") {
            Some(rest) if rest.starts_with('/') => ("/api/v3", rest),
            _ if path == "/api/graphql" => ("/api/v3", "/graphql"),
            // The GraphQL endpoint of an enterprise server is not below its REST base.
            _ => ("", path),
        };
        let canonical = named(rest, world);
        let is_lost = prefix == "/api/v3" && path == "/api/v3/graphql";
        let route = if is_lost { Route::Unknown } else { route(&canonical) };
        Self { prefix, canonical, route }
    }
}

/// Puts the name in the place of a repository id: links of lists go to `/repositories/ID/…`.
fn named(path: &str, world: &World) -> String {
    let find = || {
        let (id, rest) = path.strip_prefix("/repositories/")?.split_once('/')?;
        let repo = world.repo_of_id(id.parse().ok()?)?;
        Some(format!("/repos/{}/{rest}", repo.full_name))
    };
    find().unwrap_or_else(|| path.to_owned())
}

fn route(path: &str) -> Route {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    match parts.as_slice() {
        ["graphql"] => Route::Graphql,
        ["user"] => Route::User,
        ["rate_limit"] => Route::RateLimit,
        ["repos", owner, name, rest @ ..] => {
            let repo = RepoPath { owner: (*owner).to_owned(), name: (*name).to_owned() };
            in_repo(repo, rest).unwrap_or(Route::Unknown)
        }
        _ => Route::Unknown,
    }
}

fn in_repo(repo: RepoPath, rest: &[&str]) -> Option<Route> {
    Some(match rest {
        [] => Route::Repo(repo),
        ["pulls"] => Route::Pulls(repo),
        ["pulls", number] => Route::Pull(repo, number.parse().ok()?),
        ["pulls", number, "reviews"] => Route::Reviews(repo, number.parse().ok()?),
        ["pulls", number, "comments"] => Route::ReviewComments(repo, number.parse().ok()?),
        ["pulls", number, "files"] => Route::Files(repo, number.parse().ok()?),
        ["commits", reference, "check-runs"] => Route::CheckRuns(repo, (*reference).to_owned()),
        ["commits", reference, "status"] => Route::Status(repo, (*reference).to_owned()),
        ["issues", "comments", id] => Route::IssueComment(repo, id.parse().ok()?),
        ["issues", number] => Route::Issue(repo, number.parse().ok()?),
        ["issues", number, "comments"] => Route::IssueComments(repo, number.parse().ok()?),
        _ => return None,
    })
}

impl Route {
    /// The repository it is about.
    pub(super) fn repo(&self) -> Option<&RepoPath> {
        match self {
            Self::Graphql | Self::User | Self::RateLimit | Self::Unknown => None,
            Self::Repo(repo)
            | Self::Pulls(repo)
            | Self::Pull(repo, _)
            | Self::Reviews(repo, _)
            | Self::ReviewComments(repo, _)
            | Self::Files(repo, _)
            | Self::CheckRuns(repo, _)
            | Self::Status(repo, _)
            | Self::Issue(repo, _)
            | Self::IssueComments(repo, _)
            | Self::IssueComment(repo, _) => Some(repo),
        }
    }
}
