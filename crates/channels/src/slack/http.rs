//! Slack's HTTP conventions over the one door out.

use std::time::Duration;

use bytes::Bytes;
use loom_secrets::Secret;
use loom_transport::{
    CredentialBinding, FileBody, ProxySetting, Rate, RequestBuilder, Response, SecretText, Transport,
    WebSocket, WebSocketOptions,
};
use serde_json::Value;
use url::Url;

use crate::sending::NoReply;

/// Slack's own base URL.
pub(super) const API_URL: &str = "https://slack.com/api/";
/// Largest answer of a method, bytes.
const ANSWER_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Time limit of one method call.
const CALL_LIMIT: Duration = Duration::from_secs(30);
/// Time limit of one upload or download.
const TRANSFER_LIMIT: Duration = Duration::from_mins(10);
/// Limit of the websocket's connection.
const SOCKET_LIMIT: Duration = Duration::from_secs(10);
/// The methods have their own queues; this only bounds a runaway.
const RATE: Rate = Rate { per_second: 50.0, burst: 100, concurrency: 32 };

/// Which token a call carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    Bot,
    App,
}

/// An answer that was read, whatever its status.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) retry_after_s: Option<u64>,
    pub(super) scopes: Vec<String>,
    pub(super) content_type: String,
    pub(super) body: Bytes,
}

/// The HTTP side of one Connection.
#[derive(Debug)]
pub(super) struct Http {
    transport: Transport,
    base: Url,
    bot_token: Secret,
    app_token: Option<Secret>,
    proxy: Option<ProxySetting>,
}

impl Http {
    pub(super) fn new(
        transport: Transport,
        base: Url,
        bot_token: Secret,
        app_token: Option<Secret>,
        proxy: Option<ProxySetting>,
    ) -> Self {
        Http { transport, base, bot_token, app_token, proxy }
    }

    pub(super) fn app_token(&self) -> Option<&Secret> {
        self.app_token.as_ref()
    }

    pub(super) async fn post_json(&self, method: &str, token: Token, body: Value) -> Result<Reply, NoReply> {
        let bytes = body.to_string();
        let request = self.method(method, token)?.body("application/json; charset=utf-8", bytes);
        send(request).await
    }

    pub(super) async fn post_form(
        &self,
        method: &str,
        token: Token,
        pairs: Vec<(String, String)>,
    ) -> Result<Reply, NoReply> {
        send(self.method(method, token)?.form(pairs)).await
    }

    /// Posts a file's bytes to an upload URL, without a token.
    pub(super) async fn upload(&self, url: &str, body: FileBody) -> Result<Reply, NoReply> {
        let url = self.slack_url(url)?;
        let request = self.common(self.transport.post(url.as_str()), "upload");
        send(
            request
                .timeout(TRANSFER_LIMIT)
                .read_timeout(TRANSFER_LIMIT)
                .body("application/octet-stream", body),
        )
        .await
    }

    /// Gets a file with the bot token.
    pub(super) async fn download(&self, url: &str, bytes_max: u64) -> Result<Reply, NoReply> {
        let url = self.slack_url(url)?;
        let request = self.common(self.transport.get(url.as_str()), "download");
        let credential = binding(&self.bot_token, &url);
        send(request.timeout(TRANSFER_LIMIT).max_body_bytes(bytes_max.max(64 * 1024)).credential(credential))
            .await
    }

    /// Opens the socket that a ticket names.
    pub(super) async fn socket(&self, url: &str) -> Result<WebSocket, NoReply> {
        let options = WebSocketOptions {
            proxy: self.proxy.clone(),
            connect_timeout: Some(SOCKET_LIMIT),
            provider: Some("slack".to_owned()),
            operation: Some("socket".to_owned()),
            ..WebSocketOptions::default()
        };
        self.transport.connect_websocket(url, options).await.map_err(|error| NoReply::from(&error))
    }

    fn method(&self, method: &str, token: Token) -> Result<RequestBuilder, NoReply> {
        let local = |code, message: &str| NoReply { code, message: message.to_owned(), written: false };
        let url = self.base.join(method).map_err(|_| local("base_url", "the base URL cannot be used"))?;
        let secret = match token {
            Token::Bot => &self.bot_token,
            Token::App => {
                self.app_token.as_ref().ok_or_else(|| local("credential_missing", "there is no app token"))?
            }
        };
        let request = self.common(self.transport.post(url.as_str()), method);
        Ok(request
            .paces_itself()
            .timeout(CALL_LIMIT)
            .read_timeout(CALL_LIMIT)
            .max_body_bytes(ANSWER_BYTES_MAX)
            .credential(binding(secret, &url)))
    }

    fn common(&self, request: RequestBuilder, operation: &str) -> RequestBuilder {
        let request =
            request.no_retry().publish().redirects(0).provider("slack").operation(operation).rate(RATE);
        match &self.proxy {
            Some(proxy) => request.proxy(proxy.clone()),
            None => request,
        }
    }

    /// Only Slack's hosts, and the host of the base URL, see bytes or tokens of ours.
    fn slack_url(&self, url: &str) -> Result<Url, NoReply> {
        let wrong = || NoReply {
            code: "host_not_allowed",
            message: "the URL is not Slack's".to_owned(),
            written: false,
        };
        let url = Url::parse(url).map_err(|_| wrong())?;
        let is_base = url.origin() == self.base.origin();
        let is_slack = url.scheme() == "https"
            && url.port_or_known_default() == Some(443)
            && url.host_str().is_some_and(is_slack_host);
        if is_base || is_slack { Ok(url) } else { Err(wrong()) }
    }
}

fn is_slack_host(host: &str) -> bool {
    host == "slack.com"
        || host.ends_with(".slack.com")
        || host == "slack-files.com"
        || host.ends_with(".slack-files.com")
}

fn binding(secret: &Secret, url: &Url) -> CredentialBinding {
    let authority =
        format!("{}:{}", url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default());
    CredentialBinding::bearer(SecretText::new(secret.expose()), [authority])
}

async fn send(request: RequestBuilder) -> Result<Reply, NoReply> {
    match request.send_any_status().await {
        Ok(response) => Ok(reply(&response)),
        Err(error) => Err(NoReply::from(&error)),
    }
}

fn reply(response: &Response) -> Reply {
    let header = |name| response.header(name).unwrap_or("").trim();
    Reply {
        status: response.status(),
        retry_after_s: header("retry-after").parse().ok(),
        scopes: header("x-oauth-scopes")
            .split(',')
            .map(str::trim)
            .filter(|s| !s.is_empty())
            .map(str::to_owned)
            .collect(),
        content_type: header("content-type").to_ascii_lowercase(),
        body: Bytes::copy_from_slice(response.bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes and tokens go to Slack's hosts and to the configured base only.
    #[test]
    fn only_slack_hosts_are_trusted() {
        for good in ["slack.com", "files.slack.com", "slack-files.com"] {
            assert!(is_slack_host(good), "{good}");
        }
        for bad in ["evilslack.com", "slack.com.evil.org", "slack-files.com.evil", "127.0.0.1"] {
            assert!(!is_slack_host(bad), "{bad}");
        }
    }
}
