//! Requests of an app: its token, and answers in the platform's envelope.
//!
//! Source: «Obtain a tenant access token of a custom app», «Server-side error codes»,
//! <https://open.feishu.cn/document/server-docs/>.

use std::time::Duration;

use loom_domain::{Code, Error, Result};
use loom_secrets::{Kind, Secret};
use loom_transport::{CredentialBinding, Method, Response, SCOPE_LARK};
use serde_json::{Value, json};

use super::CREDENTIAL;
use super::errors;
use super::input::Brand;
use crate::Cx;
use crate::plan::authority;

pub(super) const FEISHU_HOST: &str = "open.feishu.cn";
pub(super) const LARK_HOST: &str = "open.larksuite.com";
pub(super) const TOKEN_PATH: &str = "/open-apis/auth/v3/tenant_access_token/internal";
/// A token is not used in the last minutes of its life.
const TOKEN_MARGIN_MS: i64 = 5 * 60_000;
/// Largest answer.
const BODY_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Longest time of one attempt.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Base of an app's platform: the owner's own, else the brand's.
pub(super) fn base(own: Option<&str>, brand: Brand) -> String {
    let host = match brand {
        Brand::Feishu => FEISHU_HOST,
        Brand::Lark => LARK_HOST,
    };
    own.map_or_else(|| format!("https://{host}"), |own| own.trim_end_matches('/').to_owned())
}

/// An app that asks.
pub(super) struct Lark<'a> {
    pub(super) cx: &'a Cx,
    base: String,
    app_id: Secret,
    app_secret: Secret,
}

impl<'a> Lark<'a> {
    /// Finds the app's credential; opens nothing.
    pub(super) async fn open(cx: &'a Cx, brand: Brand) -> Result<Self> {
        let missing = || {
            Error::new(Code::NotReady, "the app's credential is not named")
                .with_hint("give --credential-ref REF")
        };
        let app_id = cx.credential(CREDENTIAL, Kind::Feishu, "app_id").await?.ok_or_else(missing)?.secret;
        let app_secret =
            cx.credential(CREDENTIAL, Kind::Feishu, "app_secret").await?.ok_or_else(missing)?.secret;
        let public = base(None, brand);
        Ok(Lark { cx, base: cx.api_base(&public), app_id, app_secret })
    }

    /// Reads one document of the platform. A token that has ended is renewed once.
    pub(super) async fn get(&self, path: &str) -> Result<Value> {
        for is_again in [false, true] {
            let token = self.token(is_again).await?;
            let url = format!("{}{path}", self.base);
            let credential = CredentialBinding::bearer(token, authority(&self.base));
            let request = self.cx.read_request(Method::GET, &url)?.scope(SCOPE_LARK).credential(credential);
            let response = self.timed(request).max_body_bytes(BODY_BYTES_MAX).send_any_status().await?;
            match errors::judge(&response) {
                Ok(body) => return Ok(body),
                Err(error) if errors::is_of_token(&error) && !is_again => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::new(Code::ProviderAuthError, "the platform refuses every new token"))
    }

    fn timed(&self, request: loom_transport::RequestBuilder) -> loom_transport::RequestBuilder {
        match self.cx.limits().timeout() {
            None => request.timeout(TIMEOUT),
            Some(_) => request,
        }
    }

    /// A token that still lasts; a new one when it is asked for.
    async fn token(&self, renew: bool) -> Result<Secret> {
        let name = format!("lark_token {} {}", self.base, self.app_id.expose());
        let kept = self.cx.scratch().get(&name).filter(|_| !renew);
        let lasts = |kept: &Value| {
            kept.get("until_ms").and_then(Value::as_i64).is_some_and(|until| until > self.cx.now().0)
        };
        if let Some(token) = kept.filter(lasts).as_ref().and_then(|kept| kept.get("token")?.as_str()) {
            return Ok(Secret::new(token));
        }
        let response = self.exchange().await?;
        let body = errors::judge(&response)?;
        let read = || Some((body.get("tenant_access_token")?.as_str()?, body.get("expire")?.as_i64()?));
        let (token, expire) = read().ok_or_else(errors::unreadable)?;
        let token = self.cx.found(Secret::new(token), "tenant_access_token").secret;
        let until_ms =
            self.cx.now().0.saturating_add(expire.saturating_mul(1_000)).saturating_sub(TOKEN_MARGIN_MS);
        self.cx.scratch().put(&name, json!({"token": token.expose(), "until_ms": until_ms}));
        Ok(token)
    }

    async fn exchange(&self) -> Result<Response> {
        let body = json!({"app_id": self.app_id.expose(), "app_secret": self.app_secret.expose()});
        let request = self.cx.read_request(Method::POST, &format!("{}{TOKEN_PATH}", self.base))?;
        self.timed(request.scope(SCOPE_LARK)).json(&body).idempotent().send_any_status().await
    }
}
