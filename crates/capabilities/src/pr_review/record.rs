//! From what was read to the record: pure.

use super::input::Detail;
use super::output::{Author, Base, Head, Record, Title};
use super::pull::{End, Pull, User};
use super::read::Details;
use super::threads::trust_of_text;
use crate::github::RepoName;
use crate::github::record::trust_of;

/// `HOST/OWNER/REPO#N@OID`: one exact head.
pub(super) fn key(repo: &RepoName, pull: &Pull) -> String {
    format!("{}#{}@{}", repo.name(), pull.number, pull.head.oid)
}

/// The record of a pull request.
pub(super) fn record(repo: &RepoName, pull: Pull, mut details: Details, detail: Detail) -> Record {
    let is_bot = pull.author.as_ref().is_some_and(User::is_bot);
    let trust = trust_of(pull.association.as_deref().unwrap_or_default(), is_bot);
    // What failed has to be asked before the parts are taken out.
    let partial = details.partial();
    Record {
        key: key(repo, &pull),
        host: repo.host.clone(),
        repo: repo.full_name(),
        number: pull.number,
        url: format!("{}/pull/{}", repo.url(), pull.number),
        state: pull.state(),
        draft: pull.draft,
        size: details.size(),
        reviews: details.reviews(&pull),
        threads: details.threads(&pull.head.oid, detail == Detail::Full),
        checks: details.checks(),
        merge: details.merge(),
        queue: None,
        detail: match detail {
            Detail::List => "list",
            Detail::Standard => "standard",
            Detail::Full => "full",
        },
        partial,
        title: Title { text: pull.title, trust: trust_of_text(trust) },
        author: pull.author.map(|user| Author {
            login: user.login,
            id: user.id,
            r#type: user.kind.to_ascii_lowercase(),
            association: pull.association,
            trust,
            is_self: None,
        }),
        labels: pull.labels,
        head: head(repo, pull.head),
        base: Base { r#ref: pull.base.branch, oid: pull.base.oid },
        created_at: pull.created_at,
        updated_at: pull.updated_at,
        closed_at: pull.closed_at,
        merged_at: pull.merged_at,
    }
}

/// A head whose repository is gone came from a fork.
fn head(repo: &RepoName, end: End) -> Head {
    let is_own = end.repo.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(&repo.full_name()));
    Head { r#ref: end.branch, fork: !is_own, repo: end.repo, oid: end.oid }
}
