//! The REST routes.

use serde_json::{Value, json};

use super::auth::Caller;
use super::commit;
use super::details::Details;
use super::page::Page;
use super::pull::{Pull, PullState};
use super::quota::Resource;
use super::reply::{self, Reply};
use super::repo::{Repo, Sort};
use super::route::{RepoPath, Route};
use super::show::{self, Urls};
use super::world::{self, World};

/// A request as the routes see it.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    pub(super) route: &'a Route,
    /// Path as in the reference.
    pub(super) canonical: &'a str,
    pub(super) arguments: &'a [(String, String)],
    pub(super) caller: &'a Caller,
    pub(super) urls: Urls,
    pub(super) now_ms: u64,
}

type Answered = Result<Reply, Reply>;

impl Asked<'_> {
    fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The page asked for. Its links name the repository by id, as GitHub's do.
    fn page(&self, repo: &Repo) -> Page {
        let below = self.canonical.splitn(5, '/').nth(4).unwrap_or_default();
        Page::of(self.arguments, format!("{}/repositories/{}/{below}", self.urls.api, repo.id))
    }
}

/// Answers a REST request.
pub(super) fn answer(world: &mut World, asked: &Asked<'_>) -> Reply {
    routed(world, asked).unwrap_or_else(|refusal| refusal)
}

fn routed(world: &mut World, asked: &Asked<'_>) -> Answered {
    match asked.route {
        Route::User => user(asked),
        Route::RateLimit => Ok(rate_limit(world, asked)),
        Route::Repo(path) => Ok(Reply::ok(asked.urls.repository(visible(world, path, asked.caller)?))),
        Route::Pulls(path) => pulls(visible(world, path, asked.caller)?, asked),
        Route::Pull(path, number) => pull(world, path, *number, asked),
        Route::Reviews(path, number) => {
            let (repo, pull, details) = one(world, path, *number, asked)?;
            let shown = |review: &_| show::review(&asked.urls, repo, &pull, review);
            Ok(list(asked, repo, &details.reviews, shown))
        }
        Route::ReviewComments(path, number) => {
            let (repo, pull, details) = one(world, path, *number, asked)?;
            let all = show::review_comments(&asked.urls, repo, &pull, &details.threads);
            Ok(list(asked, repo, &all, Value::clone))
        }
        Route::Files(path, number) => {
            let (repo, pull, details) = one(world, path, *number, asked)?;
            let shown = |change: &_| show::file(&asked.urls, repo, &pull, change);
            Ok(list(asked, repo, &details.files, shown))
        }
        Route::CheckRuns(path, reference) => check_runs(world, path, reference, asked),
        Route::Status(path, reference) => status(world, path, reference, asked),
        Route::Issue(path, number) => issue(visible(world, path, asked.caller)?, *number, asked),
        Route::IssueComments(path, number) => comments(visible(world, path, asked.caller)?, *number, asked),
        Route::IssueComment(path, id) => {
            let repo = visible(world, path, asked.caller)?;
            let (number, comment) = repo.comment(*id).ok_or_else(reply::not_found)?;
            Ok(Reply::ok(show::comment(&asked.urls, repo, number, &comment)))
        }
        Route::Graphql | Route::Unknown => Err(reply::not_found()),
    }
}

/// A repository that this caller may see; a private one is not found by others.
pub(super) fn visible<'a>(world: &'a World, path: &RepoPath, caller: &Caller) -> Result<&'a Repo, Reply> {
    let repo = world.repo(&path.full_name()).ok_or_else(reply::not_found)?;
    if repo.private && caller.login().is_none() { Err(reply::not_found()) } else { Ok(repo) }
}

fn one<'a>(
    world: &'a World,
    path: &RepoPath,
    number: u64,
    asked: &Asked<'_>,
) -> Result<(&'a Repo, Pull, Details), Reply> {
    let repo = visible(world, path, asked.caller)?;
    let pull = repo.pull(number).ok_or_else(reply::not_found)?;
    let details = repo.details(&pull);
    Ok((repo, pull, details))
}

fn list<T: Clone>(asked: &Asked<'_>, repo: &Repo, all: &[T], shown: impl Fn(&T) -> Value) -> Reply {
    let page = asked.page(repo);
    page.reply(page.cut(all).iter().map(shown).collect(), all.len())
}

fn user(asked: &Asked<'_>) -> Answered {
    let Some(login) = asked.caller.login() else {
        let page = "rest/users/users#get-the-authenticated-user";
        return Err(Reply::refuse(401, "Requires authentication", page));
    };
    let mut shown = asked.urls.user(&world::account(login));
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("email".into(), json!(format!("{login}@example.com")));
        shown.insert("two_factor_authentication".into(), json!(true));
    }
    Ok(Reply::ok(shown))
}

/// The quotas; asking costs nothing («Get rate limit status for the authenticated user»).
fn rate_limit(world: &mut World, asked: &Asked<'_>) -> Reply {
    let World { knobs, quotas, .. } = world;
    let mut shown = |resource| {
        let rate = quotas.rate(asked.caller.login(), resource, knobs, asked.now_ms);
        json!({"limit": rate.limit, "used": rate.used, "remaining": rate.remaining(), "reset": rate.reset})
    };
    let (core, graphql) = (shown(Resource::Core), shown(Resource::Graphql));
    Reply::ok(json!({"resources": {"core": core, "graphql": graphql}, "rate": core}))
}

fn pulls(repo: &Repo, asked: &Asked<'_>) -> Answered {
    let wanted: fn(PullState) -> bool = match asked.argument("state").unwrap_or("open") {
        "open" => |state| state == PullState::Open,
        "closed" => |state| state != PullState::Open,
        "all" => |_| true,
        _ => return Err(reply::validation_failed("PullRequest", "state")),
    };
    let sort = if asked.argument("sort") == Some("updated") { Sort::Updated } else { Sort::Created };
    // Newest first by creation, oldest first by anything else («List pull requests», direction).
    let is_by_creation = asked.argument("sort").is_none_or(|sort| sort == "created");
    let descending = asked.argument("direction").map_or(is_by_creation, |direction| direction == "desc");
    let mut numbers = repo.list(wanted, sort, descending);
    if let Some(base) = asked.argument("base") {
        numbers.retain(|number| repo.pull(*number).is_some_and(|pull| pull.base == base));
    }
    if let Some(head) = asked.argument("head") {
        numbers.retain(|number| repo.pull(*number).is_some_and(|pull| is_head(&pull, head)));
    }
    let shown = |number: &u64| match repo.pull(*number) {
        Some(pull) => show::simple(&asked.urls, repo, &pull),
        None => Value::Null,
    };
    Ok(list(asked, repo, &numbers, shown))
}

/// Whether `OWNER:BRANCH` is the head.
fn is_head(pull: &Pull, head: &str) -> bool {
    let owner = pull.head_repo.as_deref().and_then(|repo| repo.split('/').next());
    owner.is_some_and(|owner| head == format!("{owner}:{}", pull.head))
}

fn pull(world: &mut World, path: &RepoPath, number: u64, asked: &Asked<'_>) -> Answered {
    one(world, path, number, asked)?;
    let needed = world.knobs.mergeable_after_reads;
    let repo = world.repo_mut(&path.full_name()).ok_or_else(reply::not_found)?;
    // The first read starts the work in the background («Get a pull request», mergeable).
    let reads = repo.mergeable_reads.entry(number).or_insert(0);
    let known = *reads >= needed;
    *reads = reads.saturating_add(1);
    let (repo, pull, details) = one(world, path, number, asked)?;
    Ok(Reply::ok(show::full(&asked.urls, repo, &pull, &details, known)))
}

fn on_commit<'a>(
    world: &'a World,
    path: &RepoPath,
    reference: &str,
    asked: &Asked<'_>,
) -> Result<(&'a Repo, String, Details), Reply> {
    let repo = visible(world, path, asked.caller)?;
    let (pull, details) = repo.pull_of(reference).ok_or_else(|| {
        let page = "rest/commits/commits#get-a-commit";
        Reply::refuse(422, &format!("No commit found for SHA: {reference}"), page)
    })?;
    Ok((repo, pull.head_oid, details))
}

fn check_runs(world: &World, path: &RepoPath, reference: &str, asked: &Asked<'_>) -> Answered {
    let (repo, oid, details) = on_commit(world, path, reference, asked)?;
    let is_wanted = |run: &&commit::CheckRun| {
        asked.argument("check_name").is_none_or(|name| run.name == name)
            && asked.argument("status").is_none_or(|status| run.status == status)
    };
    let mut runs: Vec<_> = match asked.argument("filter") {
        Some("all") => details.checks.iter().filter(is_wanted).cloned().collect(),
        _ => commit::latest_checks(&details.checks).into_iter().filter(is_wanted).cloned().collect(),
    };
    runs.sort_by_key(|run| std::cmp::Reverse(run.id));
    let page = asked.page(repo);
    let shown: Vec<Value> =
        page.cut(&runs).iter().map(|run| show::check_run(&asked.urls, repo, &oid, run)).collect();
    Ok(page.reply(json!({"total_count": runs.len(), "check_runs": shown}), runs.len()))
}

fn status(world: &World, path: &RepoPath, reference: &str, asked: &Asked<'_>) -> Answered {
    let (repo, oid, details) = on_commit(world, path, reference, asked)?;
    let latest = commit::latest_statuses(&details.statuses);
    let page = asked.page(repo);
    let shown: Vec<Value> =
        page.cut(&latest).into_iter().map(|status| show::status(&asked.urls, repo, &oid, status)).collect();
    let own = format!("{}/commits/{oid}", asked.urls.repo(repo));
    let body = json!({"state": commit::combined(&latest), "statuses": shown, "sha": oid,
        "total_count": latest.len(), "repository": asked.urls.repository(repo), "commit_url": own,
        "url": format!("{own}/status")});
    Ok(page.reply(body, latest.len()))
}

fn issue(repo: &Repo, number: u64, asked: &Asked<'_>) -> Answered {
    let count = repo.comments(number).map_or(0, |comments| comments.len());
    if let Some(issue) = repo.issues.get(&number) {
        return Ok(Reply::ok(show::issue(&asked.urls, repo, issue, count)));
    }
    let pull = repo.pull(number).ok_or_else(reply::not_found)?;
    Ok(Reply::ok(show::pull_as_issue(&asked.urls, repo, &pull, count)))
}

fn comments(repo: &Repo, number: u64, asked: &Asked<'_>) -> Answered {
    let mut all = repo.comments(number).ok_or_else(reply::not_found)?;
    if let Some(since) = asked.argument("since") {
        let since: jiff::Timestamp =
            since.parse().map_err(|_| reply::validation_failed("IssueComment", "since"))?;
        // By the last change, not by creation («List issue comments», since).
        all.retain(|comment| i64::try_from(comment.updated_secs).is_ok_and(|at| at >= since.as_second()));
    }
    let shown = |comment: &_| show::comment(&asked.urls, repo, number, comment);
    Ok(list(asked, repo, &all, shown))
}
