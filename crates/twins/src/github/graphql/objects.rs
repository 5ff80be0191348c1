//! The objects of the schema, whole; the run takes from them what is selected.

use serde_json::{Map, Value, json};

use crate::front::instant;
use crate::github::actor::{Actor, ActorKind};
use crate::github::conversation::Discussion;
use crate::github::details::{Details, Review, Thread, ThreadComment};
use crate::github::pull::{Pull, PullState};
use crate::github::repo::Repo;
use crate::github::show::{Urls, body_text};
use crate::github::world::World;

/// Key of the nodes of a connection.
pub(super) const CONNECTION: &str = "__nodes";
/// Key of the fields that only the concrete type of an interface has.
pub(super) const CONCRETE: &str = "__concrete";

/// The world as one caller reads it.
pub(super) struct Objects<'a> {
    pub(super) world: &'a World,
    pub(super) urls: &'a Urls,
    pub(super) login: &'a str,
}

impl Objects<'_> {
    /// The fields of `Query` that take no arguments.
    pub(super) fn root(&self) -> Value {
        let viewer = Actor::stranger(self.login);
        json!({"__typename": "Query", "viewer": {"__typename": "User", "login": viewer.login, "databaseId": viewer.id}})
    }

    /// A field that is found by its arguments: an object, or why there is none.
    pub(super) fn resolve(
        &self,
        kind: &str,
        object: &Value,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Option<Result<Value, String>> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let number = arguments.get("number").and_then(Value::as_u64).unwrap_or_default();
        match (kind, name) {
            ("Query", "repository") => {
                let full_name = format!("{}/{}", text("owner"), text("name"));
                let repo = self.world.repo(&full_name).map(|repo| self.repository(repo));
                Some(repo.ok_or(format!("Could not resolve to a Repository with the name '{full_name}'.")))
            }
            ("Repository", "pullRequest") => {
                let repo = self.home(object)?;
                let pull = repo.pull(number).map(|pull| self.pull(repo, &pull, &repo.details(&pull)));
                Some(pull.ok_or(format!("Could not resolve to a PullRequest with the number of {number}.")))
            }
            ("Repository", "discussion") => {
                let repo = self.home(object)?;
                let found = repo.discussions.get(&number).map(|one| self.discussion(repo, one));
                Some(found.ok_or(format!("Could not resolve to a Discussion with the number of {number}.")))
            }
            _ => None,
        }
    }

    fn home(&self, object: &Value) -> Option<&Repo> {
        self.world.repo(object.get("nameWithOwner")?.as_str()?)
    }

    fn repository(&self, repo: &Repo) -> Value {
        let name = repo.full_name.split('/').nth(1).unwrap_or_default();
        json!({"__typename": "Repository", "id": format!("R_{}", repo.id), "databaseId": repo.id, "name": name,
            "nameWithOwner": repo.full_name, "isPrivate": repo.private, "url": self.urls.page(repo)})
    }

    fn actor(&self, actor: Option<&Actor>) -> Value {
        // An account that was deleted is null here, where REST shows `ghost`.
        let Some(actor) = actor else { return Value::Null };
        let kind = if actor.kind == ActorKind::Bot { "Bot" } else { "User" };
        let login = actor.login.trim_end_matches("[bot]");
        let own = json!({"id": format!("U_{}", actor.id), "databaseId": actor.id, "createdAt": "2020-01-01T00:00:00Z"});
        json!({"__typename": kind, "login": login, "url": format!("{}/{login}", self.urls.html),
            "resourcePath": format!("/{login}"), CONCRETE: own,
            "avatarUrl": format!("https://avatars.githubusercontent.com/u/{}?v=4", actor.id)})
    }

    fn pull(&self, repo: &Repo, pull: &Pull, details: &Details) -> Value {
        let mergeable = match pull.mergeable {
            Some(true) => "MERGEABLE",
            Some(false) => "CONFLICTING",
            None => "UNKNOWN",
        };
        let state = match pull.state {
            PullState::Open => "OPEN",
            PullState::Closed => "CLOSED",
            PullState::Merged => "MERGED",
        };
        let threads: Vec<Value> = details
            .threads
            .iter()
            .zip(0_u64..)
            .map(|(thread, at)| self.thread(repo, pull, thread, at))
            .collect();
        let reviews: Vec<Value> = details.reviews.iter().map(|review| self.review(review)).collect();
        let labels: Vec<Value> = pull
            .labels
            .iter()
            .map(|name| json!({"__typename": "Label", "name": name, "color": "d73a4a"}))
            .collect();
        let (additions, deletions, _) = pull.size;
        json!({
            "__typename": "PullRequest", "id": format!("PR_{}", pull.number), "number": pull.number,
            "title": pull.title, "state": state, "isDraft": pull.draft, "author": self.actor(Some(&pull.author)),
            "authorAssociation": pull.author.association, "url": format!("{}/pull/{}", self.urls.page(repo), pull.number),
            "createdAt": pull.created_at(), "updatedAt": pull.updated_at(), "closedAt": pull.closed_at(),
            "mergedAt": (pull.state == PullState::Merged).then(|| pull.updated_at()),
            "headRefOid": pull.head_oid, "headRefName": pull.head, "baseRefName": pull.base,
            "baseRefOid": pull.base_oid, "mergeable": mergeable, "mergeStateStatus": pull.merge_state.to_uppercase(),
            "additions": additions, "deletions": deletions, "changedFiles": details.files.len(),
            "body": body_text(&pull.author), "locked": false,
            "reviewThreads": connection("PullRequestReviewThreadConnection", &threads),
            "reviews": connection("PullRequestReviewConnection", &reviews),
            "labels": connection("LabelConnection", &labels),
        })
    }

    fn review(&self, review: &Review) -> Value {
        let association = review.author.as_ref().map(|author| author.association);
        json!({"__typename": "PullRequestReview", "id": format!("PRR_{}", review.id), "databaseId": review.id,
            "author": self.actor(review.author.as_ref()), "authorAssociation": association, "state": review.state,
            "submittedAt": instant(review.submitted_secs),
            "commit": {"__typename": "Commit", "oid": review.commit_oid}})
    }

    fn thread(&self, repo: &Repo, pull: &Pull, thread: &Thread, at: u64) -> Value {
        let comments: Vec<Value> =
            thread.comments.iter().map(|comment| self.comment(repo, pull, thread, comment)).collect();
        let resolver = thread.resolved.then(|| Actor::member("ana"));
        json!({
            "__typename": "PullRequestReviewThread", "id": format!("PRRT_{}_{at}", pull.number),
            "isResolved": thread.resolved, "isOutdated": thread.line.is_none(), "isCollapsed": thread.resolved,
            "path": thread.path, "line": thread.line, "originalLine": thread.line.unwrap_or(7), "startLine": null,
            "diffSide": "RIGHT", "subjectType": "LINE", "resolvedBy": self.actor(resolver.as_ref()),
            "viewerCanResolve": true, "comments": connection("PullRequestReviewCommentConnection", &comments),
        })
    }

    fn comment(&self, repo: &Repo, pull: &Pull, thread: &Thread, comment: &ThreadComment) -> Value {
        let at = instant(comment.created_secs);
        let page = format!("{}/pull/{}#discussion_r{}", self.urls.page(repo), pull.number, comment.id);
        json!({
            "__typename": "PullRequestReviewComment", "id": format!("PRRC_{}", comment.id), "databaseId": comment.id,
            "fullDatabaseId": comment.id.to_string(), "author": self.actor(Some(&comment.author)),
            "authorAssociation": comment.author.association, "body": comment.body, "bodyText": comment.body,
            "bodyHTML": format!("<p>{}</p>", comment.body), "createdAt": at, "updatedAt": at, "url": page,
            "path": thread.path, "line": thread.line, "outdated": thread.line.is_none(), "isMinimized": false,
            "commit": {"__typename": "Commit", "oid": pull.head_oid},
            "originalCommit": {"__typename": "Commit", "oid": comment.commit_oid}, "state": "SUBMITTED",
        })
    }

    fn discussion(&self, repo: &Repo, one: &Discussion) -> Value {
        let at = instant(one.created_secs);
        let slug: String = one.category.to_lowercase().replace('&', "-");
        let comments: Vec<Value> = (0..one.comments)
            .map(|at| json!({"__typename": "DiscussionComment", "id": format!("DC_{at}"), "body": "a private remark"}))
            .collect();
        json!({
            "__typename": "Discussion", "id": format!("D_{}", one.number), "databaseId": repo.id * 10_000 + one.number,
            "number": one.number, "title": one.title, "author": self.actor(Some(&one.author)),
            "authorAssociation": one.author.association, "createdAt": at, "updatedAt": at, "closed": false,
            "closedAt": null, "stateReason": null, "locked": false, "activeLockReason": null,
            "url": format!("{}/discussions/{}", self.urls.page(repo), one.number), "upvoteCount": one.upvotes,
            "category": {"__typename": "DiscussionCategory", "id": "DIC_1", "name": one.category, "slug": slug,
                "isAnswerable": one.answered.is_some(), "emoji": ":pray:"},
            "isAnswered": one.answered, "answerChosenAt": null, "body": body_text(&one.author),
            "bodyText": body_text(&one.author), "comments": connection("DiscussionCommentConnection", &comments),
            "labels": connection("LabelConnection", &[]),
        })
    }
}

fn connection(kind: &str, nodes: &[Value]) -> Value {
    json!({"__typename": kind, CONNECTION: nodes})
}
