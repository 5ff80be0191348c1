//! `http_webhook`: what an HTTP endpoint answers, as declared fields only; and the signatures of webhooks.

pub mod deliver;
mod input;
mod output;
pub mod signature;

use std::time::Duration;

use async_trait::async_trait;
use loom_domain::{Code, Error, Principal, Result};
use loom_secrets::Kind;
use loom_transport::{Method, RequestBuilder, Response};
use serde_json::{Value, json};

use crate::declared::yaml;
use crate::jq::{self, Projector};
use crate::plan::authority;
use crate::{
    Boundary, Capability, CatalogEntry, Cx, Operation, PlannedWrite, RunOutcome, RunPlan, RunRequest,
    RunSettings, Sink, SourceRef, read_input, sha256_of_bytes,
};
use input::{Auth, ProbeInput, Statuses, Verb};
use output::ProbeFields;

/// Largest answer that is read.
const BODY_BYTES_MAX: u64 = 2 * 1024 * 1024;
/// Largest body that is sent.
const SENT_BYTES_MAX: usize = 256 * 1024;
/// Name of its credential.
const CREDENTIAL: &str = "endpoint";

/// The connector.
#[derive(Debug)]
pub struct HttpWebhook {
    entry: CatalogEntry,
}

impl HttpWebhook {
    /// Makes it.
    pub fn new() -> Self {
        let probe = Operation::record::<ProbeInput, ProbeFields>("probe", "loom.http_probe/v1")
            .about("Ask an endpoint, and tell its status, type, size and digest")
            .resource("endpoint");
        let entry = CatalogEntry::connector("http_webhook", "HTTP endpoints")
            .boundary(Boundary::PublicContent)
            .any_public_host()
            .credential(CREDENTIAL, &["value"], false)
            .operation(probe)
            .stop_condition("the body is wanted without a projection")
            .examples(
                "value-connectors http-webhook --url https://example.com/health",
                "value-connectors http-webhook \\\n    --url https://example.com/status.json --project '{state: .status}'",
            );
        HttpWebhook { entry }
    }
}

impl Default for HttpWebhook {
    fn default() -> Self {
        HttpWebhook::new()
    }
}

struct Target {
    input: ProbeInput,
    url: String,
    expected: Statuses,
}

#[async_trait]
impl Capability for HttpWebhook {
    fn entry(&self) -> &CatalogEntry {
        &self.entry
    }

    fn plan(&self, request: &RunRequest) -> Result<RunPlan> {
        let target = target(request)?;
        let endpoint = target.input.endpoint.as_ref().unwrap_or(&target.url);
        let plan = RunPlan::of(&self.entry, request)?.resource("endpoint", endpoint);
        let plan = plan.request(target.input.method.as_str(), &target.url);
        Ok(match target.input.method {
            Verb::Post => plan.write(target.write(&request.settings)?),
            Verb::Get | Verb::Head => plan,
        })
    }

    /// A POST is the owner's direct order; whoever else sends one needs the owner's approval.
    fn is_gated(&self, principal: &Principal, request: &RunRequest) -> bool {
        target(request).is_ok_and(|target| is_write_of_another(&target, principal))
    }

    async fn run(&self, cx: &Cx, request: RunRequest, out: &mut dyn Sink) -> Result<RunOutcome> {
        let target = target(&request)?;
        if *cx.principal() != Principal::Owner && target.input.endpoint.is_none() {
            return Err(Error::new(Code::Forbidden, "an Agent names an endpoint, never a URL"));
        }
        if is_write_of_another(&target, cx.principal()) && cx.permit().is_none() {
            return Err(crate::gate::needed(&self.entry.id));
        }
        let projector = match target.input.project.as_deref() {
            Some(program) => Some(Projector::start(program).await?),
            None => None,
        };
        let builder = built(cx, &target).await?;
        let response = Box::pin(builder.send_any_status()).await?;
        let projected = match &projector {
            Some(projector) => projected(projector, &response).await,
            None => Ok(Value::Null),
        };
        out.fields(fields(cx, &response, projected.as_ref().unwrap_or(&Value::Null)));
        if !target.expected.holds(response.status()) {
            return Err(unexpected(&response));
        }
        projected?;
        let shown = response.meta().final_url.split(['?', '#']).next().unwrap_or_default().to_owned();
        Ok(RunOutcome::of(SourceRef::new("http", &shown, Some(shown.clone()), cx.now())))
    }
}

fn is_write_of_another(target: &Target, principal: &Principal) -> bool {
    target.input.method == Verb::Post && *principal != Principal::Owner
}

impl Target {
    /// What a POST sends, but for the value of its credential.
    fn write(&self, settings: &RunSettings) -> Result<PlannedWrite> {
        let mut headers = headers(&self.input)?;
        if settings.credential_refs.contains_key(CREDENTIAL) {
            headers.push(("authorization".to_owned(), format!("the credential, as {}", self.input.auth)));
        }
        Ok(PlannedWrite {
            method: self.input.method.as_str().to_owned(),
            url: self.url.clone(),
            headers,
            body: self.input.json.as_ref().map(Value::to_string),
        })
    }
}

/// The headers of the input, by name.
fn headers(input: &ProbeInput) -> Result<Vec<(String, String)>> {
    let split = |header: &String| {
        let (name, value) = header.split_once('=').ok_or_else(|| {
            Error::new(Code::InvalidInput, "a header is NAME=VALUE").with_detail("pointer", "/header")
        })?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    };
    input.header.iter().map(split).collect()
}

fn target(request: &RunRequest) -> Result<Target> {
    let input: ProbeInput = read_input(request)?;
    let wrong =
        |pointer: &str, why: &str| Error::new(Code::InvalidInput, why).with_detail("pointer", pointer);
    if input.url.is_none() && input.endpoint.is_some() {
        return Err(wrong("/endpoint", "an endpoint is known to the hub: plan the probe, or give --url"));
    }
    let url = input.url.clone().ok_or_else(|| wrong("/url", "an URL is needed"))?;
    if authority(&url).is_none() {
        return Err(Error::new(Code::InvalidUrl, "this is no URL of a host").with_detail("rule", "host"));
    }
    let expected = Statuses::parse(&input.expect_status)
        .ok_or_else(|| wrong("/expect_status", "expected statuses such as 200, or 200-299,304"))?;
    if input.json.is_some() && input.method != Verb::Post {
        return Err(wrong("/json", "a body is sent with POST only"));
    }
    if input.json.as_ref().is_some_and(|body| body.to_string().len() > SENT_BYTES_MAX) {
        return Err(wrong("/json", "the body is over 256 KiB"));
    }
    if let Some(Err(error)) = input.project.as_deref().map(jq::check) {
        return Err(error.with_detail("pointer", "/project"));
    }
    if Auth::parse(&input.auth).is_none() {
        return Err(wrong("/auth", "expected bearer, basic or header:NAME"));
    }
    Ok(Target { input, url, expected })
}

async fn built(cx: &Cx, target: &Target) -> Result<RequestBuilder> {
    let Target { input, url, .. } = target;
    let mut builder = match input.method {
        Verb::Get => cx.request(Method::GET, url)?,
        Verb::Head => cx.request(Method::HEAD, url)?,
        Verb::Post => cx.write_request(Method::POST, url)?.publish().no_retry(),
    };
    builder = builder.max_body_bytes(BODY_BYTES_MAX);
    if cx.limits().timeout().is_none() {
        builder = builder.timeout(Duration::from_secs(20));
    }
    for (name, value) in headers(input)? {
        builder = builder.header(&name, &value);
    }
    if let Some(body) = &input.json {
        builder = builder.json(body);
    }
    if let Some(found) = cx.credential(CREDENTIAL, Kind::Plain, Kind::Plain.main_field()).await? {
        let mut binding = found.bearer(authority(url));
        if let Some(auth) = Auth::parse(&input.auth) {
            binding.place = auth.place();
        }
        builder = builder.credential(binding);
    }
    Ok(builder)
}

fn fields(cx: &Cx, response: &Response, projected: &Value) -> Value {
    let length = response.header("content-length").and_then(|text| text.parse::<u64>().ok());
    json!({
        "status": response.status(),
        "content_type": response.header("content-type"),
        "content_length": length,
        "elapsed_ms": response.meta().elapsed_ms,
        "address_family": cx.tally().address_family(),
        "tls": null,
        "body_sha256": sha256_of_bytes(response.bytes()),
        "body_kind": body_kind(response),
        "projected": projected,
    })
}

fn media_type(response: &Response) -> String {
    let kind = response.header("content-type").unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn body_kind(response: &Response) -> &'static str {
    let kind = media_type(response);
    match response.bytes() {
        [] => "empty",
        _ if kind == "application/json" || kind.ends_with("+json") => "json",
        bytes if std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0')) => "text",
        _ => "binary",
    }
}

/// The body as YAML or JSON, by what the answer says it is.
async fn projected(projector: &Projector, response: &Response) -> Result<Value> {
    let kind = media_type(response);
    let is_yaml = kind.ends_with("/yaml") || kind.ends_with("/x-yaml") || kind.ends_with("+yaml");
    let document = if is_yaml { yaml(response.text()?)? } else { response.json()? };
    let mut results = projector.project(document).await.map_err(jq::Failure::into_error)?;
    Ok(match results.len() {
        0 | 1 => results.pop().unwrap_or_default(),
        _ => Value::Array(results),
    })
}

fn unexpected(response: &Response) -> Error {
    let status = response.status();
    let (code, kind) = match status {
        401 => (Code::ProviderAuthError, "permission"),
        429 => (Code::ProviderRateLimited, "client_other"),
        403 => (Code::ProviderHttpError, "permission"),
        404 => (Code::ProviderHttpError, "not_found"),
        410 => (Code::ProviderHttpError, "gone"),
        300..=399 => (Code::ProviderRedirectRefused, "redirect"),
        500.. => (Code::ProviderHttpError, "server"),
        _ => (Code::ProviderHttpError, "client_other"),
    };
    let mut error = Error::new(code, format!("the endpoint answered {status}, which is not expected"))
        .with_detail("kind", kind);
    error.http_status = Some(status);
    error.request_id = Some(response.meta().request_id.clone());
    error
}

#[cfg(test)]
mod tests;
