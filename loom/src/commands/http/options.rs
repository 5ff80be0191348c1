//! What both requests may say beside URL and body.

use clap::Args;
use loom_domain::{Code, Error, Result};
use loom_secrets::{CredentialRef, Kind, Redactor};
use loom_transport::{
    CredentialBinding, Method, Place, REDIRECTS_DEFAULT, RequestBuilder, Subject, authority,
};

use super::answer;
use crate::compose::outbound;
use crate::context::Context;
use crate::credentials;
use crate::failure::Outcome;
use crate::input::cassette::Cassette;

/// What both requests may say.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// URL; https, or http to a local origin
    #[arg(id = "target", value_name = "URL")]
    pub(super) url: String,
    /// Header; never one that carries a secret
    #[arg(long = "header", value_name = "NAME=VALUE", value_parser = pair)]
    headers: Vec<(String, String)>,
    /// Credential for the host of the URL, such as vault:NAME
    #[arg(long, value_name = "REF", value_parser = CredentialRef::parse)]
    credential_ref: Option<CredentialRef>,
    /// Where the credential goes: bearer, basic or header:NAME
    #[arg(long, value_name = "HOW", default_value = "bearer", requires = "credential_ref", value_parser = place)]
    auth: Place,
    /// Limit of one attempt, 0.1 to 600
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = seconds)]
    timeout_seconds: Option<f64>,
    #[command(flatten)]
    cassette: Cassette,
}

impl Options {
    /// Sends a request and prints its answer.
    pub(super) async fn send(
        &self,
        method: Method,
        complete: impl FnOnce(RequestBuilder) -> RequestBuilder,
        cx: &mut Context<'_, '_>,
    ) -> Outcome {
        let redactor = Redactor::new();
        let credential = self.credential(cx, &redactor).await?;
        let home = authority(&self.url)?;
        let host = home.rsplit_once(':').map_or(home.as_str(), |(host, _)| host);
        let tape = self.cassette.open(&[host.to_owned()], &Subject::new())?;
        let builder = tape.insert(outbound::builder(&cx.env.home(), &cx.env.variables, &redactor)?);
        let transport = builder.build()?;
        let mut request = transport.request(method, &self.url).redirects(REDIRECTS_DEFAULT).operation("http");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(credential) = credential {
            request = request.credential(credential);
        }
        if let Some(seconds) = self.timeout_seconds {
            request = request.timeout_seconds(seconds);
        }
        let response = Box::pin(complete(request).send()).await?;
        tape.finish()?;
        answer::print(&response, &redactor, cx)
    }

    /// What would be sent, without a look at the credential.
    pub(super) fn plan(&self, method: &Method, body_bytes: usize) -> Result<serde_json::Value> {
        let redacted = Redactor::new();
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        Ok(serde_json::json!({
            "schema_version": "loom.http_plan/v1", "dry_run": true, "method": method.as_str(),
            "url": redacted.redact(&self.url, loom_secrets::Profile::Output), "host": authority(&self.url)?,
            "headers": names, "body_bytes": body_bytes,
            "credential_ref": self.credential_ref.as_ref().map(ToString::to_string),
        }))
    }

    async fn credential(
        &self,
        cx: &Context<'_, '_>,
        redactor: &Redactor,
    ) -> Result<Option<CredentialBinding>> {
        let Some(reference) = &self.credential_ref else { return Ok(None) };
        let resolver = credentials::resolver(&cx.env.home(), &cx.env.variables, redactor.clone())?;
        let field = Kind::Plain.main_field();
        let value = resolver.resolve_field(reference, Kind::Plain, field).await?;
        let hosts = vec![authority(&self.url)?];
        Ok(Some(CredentialBinding { value, field: field.to_owned(), hosts, place: self.auth.clone() }))
    }
}

/// `NAME=VALUE`.
pub(super) fn pair(text: &str) -> Result<(String, String)> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(Error::new(Code::InvalidArgument, "expected NAME=VALUE")),
    }
}

fn place(text: &str) -> Result<Place> {
    match (text, text.strip_prefix("header:")) {
        ("bearer", _) => Ok(Place::Bearer),
        ("basic", _) => Ok(Place::Basic),
        (_, Some(name)) if !name.is_empty() => Ok(Place::Header(name.to_owned())),
        _ => Err(Error::new(Code::InvalidArgument, "expected bearer, basic or header:NAME")),
    }
}

/// Any number; the transport judges its range.
fn seconds(text: &str) -> Result<f64> {
    text.parse().map_err(|_| Error::new(Code::Usage, "expected a number of seconds"))
}
