//! Requests to GitHub's REST and GraphQL APIs.

use loom_domain::Result;
use loom_transport::{CacheKey, CredentialBinding, Method, Rate, RequestBuilder, Response};
use serde_json::{Value, json};

use super::{API, errors, token};
use crate::Cx;

const API_VERSION: &str = "2022-11-28";
const USER_AGENT: &str = concat!("loom/", env!("CARGO_PKG_VERSION"));
const REST: Rate = Rate { per_second: 12.0, burst: 12, concurrency: 8 };
const GRAPHQL: Rate = Rate { per_second: 4.0, burst: 4, concurrency: 8 };

/// The API at one base URL, with the credential that was found for it.
pub(crate) struct Github<'a> {
    cx: &'a Cx,
    base: String,
    credential: Option<CredentialBinding>,
}

/// Where GraphQL is, for a REST base URL.
pub(crate) fn graphql_url(base: &str) -> String {
    match base.strip_suffix("/api/v3") {
        Some(site) => format!("{site}/api/graphql"),
        None => format!("{base}/graphql"),
    }
}

impl<'a> Github<'a> {
    /// Finds the credential; opens nothing.
    pub(crate) async fn open(cx: &'a Cx) -> Result<Self> {
        let base = cx.api_base(API);
        let credential = token::find(cx, &base).await?;
        Ok(Github { cx, base, credential })
    }

    /// Whether a token was found.
    pub(crate) fn has_token(&self) -> bool {
        self.credential.is_some()
    }

    /// The URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Reads a URL of this API.
    pub(crate) async fn get(&self, url: &str) -> Result<Response> {
        let request = self.paced(self.cx.request(Method::GET, url)?, "github", REST);
        self.send(request).await
    }

    /// Reads a URL of this API if it changed since a projection of that name was remembered. Throttles come back at once.
    pub(super) async fn get_if_changed(&self, url: &str, projection: &str) -> Result<Response> {
        let request = self.paced(self.cx.request(Method::GET, url)?, "github", REST).hands_throttles_on();
        let key = CacheKey {
            api_version: API_VERSION.to_owned(),
            projection_digest: projection.to_owned(),
            ..self.cx.cache_key()
        };
        self.send(request.cache(key)).await
    }

    /// Keeps a projection, so that the next reading can ask whether it still holds.
    pub(super) fn remember(&self, response: &Response, mut projection: Value) -> Result<()> {
        self.cx.world().redactor.redact_json(&mut projection, loom_secrets::Profile::Output);
        self.cx.transport()?.remember(response, &projection);
        Ok(())
    }

    /// Asks a constant query with variables; gives `data`.
    pub(crate) async fn query(&self, text: &str, variables: &Value) -> Result<Value> {
        let request = self.cx.read_request(Method::POST, &graphql_url(&self.base))?.idempotent();
        let request = request.hands_throttles_on();
        let request = self.paced(request, "github_graphql", GRAPHQL);
        let response = self.send(request.json(&json!({"query": text, "variables": variables}))).await?;
        let mut answer: Value = response.json()?;
        match answer.get("errors").and_then(Value::as_array).and_then(|errors| errors.first()) {
            None => Ok(answer.get_mut("data").map(Value::take).unwrap_or_default()),
            Some(first) => Err(errors::of_query(first, &response, self.cx.now())),
        }
    }

    fn paced(&self, request: RequestBuilder, scope: &str, rate: Rate) -> RequestBuilder {
        let request = request
            .header("accept", "application/vnd.github+json")
            .header("x-github-api-version", API_VERSION)
            .header("user-agent", USER_AGENT)
            .scope(scope);
        // Other bases keep the rate of their host: a local one is not slowed down.
        let request = if self.base == API { request.rate(rate) } else { request };
        match &self.credential {
            Some(credential) => request.credential(credential.clone()),
            None => request,
        }
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response> {
        let response = request.send_any_status().await?;
        let is_confirmed = response.status() == 304 && response.projection().is_some();
        if response.is_success() || is_confirmed {
            Ok(response)
        } else {
            Err(errors::of_answer(&response, self.cx.now()))
        }
    }
}
