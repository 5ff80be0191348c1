//! Answers of the API before they become bytes, and its refusals.

use serde_json::{Value, json};

use super::route::RepoPath;

/// An answer of a route.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Value,
    pub(super) headers: Vec<(&'static str, String)>,
}

impl Reply {
    pub(super) fn ok(body: Value) -> Self {
        Self { status: 200, body, headers: Vec::new() }
    }

    /// A refusal in the form of every one: `message`, `documentation_url`, `status`.
    pub(super) fn refuse(status: u16, message: &str, page: &str) -> Self {
        let documentation_url = format!("https://docs.github.com/{page}");
        let body =
            json!({"message": message, "documentation_url": documentation_url, "status": status.to_string()});
        Self { status, body, headers: Vec::new() }
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Adds a field to an object.
    pub(super) fn field(mut self, name: &str, value: Value) -> Self {
        if let Some(body) = self.body.as_object_mut() {
            body.insert(name.to_owned(), value);
        }
        self
    }
}

/// 404: what is not there, or not for this reader.
pub(super) fn not_found() -> Reply {
    Reply::refuse(404, "Not Found", "rest")
}

/// 401 of a token nobody gave out.
pub(super) fn bad_credentials() -> Reply {
    Reply::refuse(401, "Bad credentials", "rest")
}

/// 422 of an argument.
pub(super) fn validation_failed(resource: &str, field: &str) -> Reply {
    let errors = json!([{"resource": resource, "field": field, "code": "invalid"}]);
    Reply::refuse(422, "Validation Failed", "rest").field("errors", errors)
}

/// 403 of an organisation that wants single sign-on. The header tells where to authorize the token
/// («Authenticating to the REST API», personal access tokens and SAML single sign-on).
pub(super) fn sso_required(owner: &str) -> Reply {
    let message = "Resource protected by organization SAML enforcement. You must grant your Personal Access token \
                   access to this organization.";
    let page = "articles/authenticating-to-a-github-organization-with-saml-single-sign-on/";
    let place = format!("required; url=https://github.com/orgs/{owner}/sso?authorization_request=AAAA0000");
    Reply::refuse(403, message, page).with("x-github-sso", place)
}

/// 403 of a token that lacks a permission.
pub(super) fn forbidden() -> Reply {
    Reply::refuse(403, "Resource not accessible by personal access token", "rest")
        .with("x-accepted-github-permissions", "pull_requests=read")
}

/// 410 of something that was deleted.
pub(super) fn gone() -> Reply {
    Reply::refuse(410, "This issue was deleted", "rest/issues/issues#get-an-issue")
}

/// 451 of a repository taken down.
pub(super) fn legal(owner: &str) -> Reply {
    let block = json!({"reason": "dmca", "created_at": "2026-01-01T00:00:00Z",
        "html_url": format!("https://github.com/github/dmca/blob/master/2026/01/{owner}.md")});
    Reply::refuse(451, "Repository access blocked", "rest").field("block", block)
}

/// The primary limit: 403 or 429; the quota in the headers says 0.
pub(super) fn primary_limit(status: u16, who: &str) -> Reply {
    let message = format!(
        "API rate limit exceeded for {who}. If you reach out to GitHub Support for help, please \
                           include the request ID."
    );
    Reply::refuse(status, &message, "rest/using-the-rest-api/rate-limits-for-the-rest-api")
}

/// The secondary limit: 403 or 429 with quota left; the message tells it from a missing permission.
pub(super) fn secondary_limit(status: u16, retry_after_secs: Option<u64>) -> Reply {
    let message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. If you \
                   reach out to GitHub Support for help, please include the request ID.";
    let page = "rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits";
    let refusal = Reply::refuse(status, message, page);
    match retry_after_secs {
        Some(secs) => refusal.with("retry-after", secs.to_string()),
        None => refusal,
    }
}

/// 301 of a repository that was renamed.
pub(super) fn moved(location: &str) -> Reply {
    let refusal =
        Reply::refuse(301, "Moved Permanently", "rest/guides/best-practices-for-using-the-rest-api");
    refusal.field("url", json!(location)).with("location", location)
}

/// The owner a refusal is about.
pub(super) fn owner_of(path: Option<&RepoPath>) -> &str {
    path.map_or("acme", |path| path.owner.as_str())
}
