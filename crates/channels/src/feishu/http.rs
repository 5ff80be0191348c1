//! The platform's HTTP conventions over the one door out.

use std::time::Duration;

use bytes::Bytes;
use loom_secrets::Secret;
use loom_transport::{
    CredentialBinding, Method, Multipart, ProxySetting, RequestBuilder, Response, SCOPE_LARK, SecretText,
    Transport,
};
use serde_json::Value;
use url::Url;

use crate::sending::NoReply;

/// Largest answer of a call, bytes.
const ANSWER_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Time limit of one call.
const CALL_LIMIT: Duration = Duration::from_secs(30);
/// Time limit of one upload or download.
const TRANSFER_LIMIT: Duration = Duration::from_mins(10);
/// Least cap of a download, bytes.
const DOWNLOAD_BYTES_MIN: u64 = 64 * 1024;

/// What a request carries.
#[derive(Debug, Clone, Default)]
pub(super) enum Content {
    #[default]
    Nothing,
    Json(Value),
    Form(Multipart),
    /// Nothing; the answer is a file of at most this many bytes.
    Download(u64),
}

/// A request of the app.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    pub(super) method: Method,
    /// Behind `/open-apis/`.
    pub(super) path: String,
    pub(super) query: Vec<(&'static str, String)>,
    pub(super) content: Content,
    /// Chat that it writes to.
    pub(super) chat: Option<String>,
    /// Name in errors and logs.
    pub(super) operation: &'static str,
}

/// An answer that was read, whatever its status.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) reset_s: Option<u64>,
    pub(super) log_id: String,
    pub(super) content_type: String,
    pub(super) bytes: Bytes,
}

/// The HTTP side of one Connection.
#[derive(Debug)]
pub(super) struct Http {
    transport: Transport,
    /// Without a slash at its end.
    base: String,
    authority: String,
    proxy: Option<ProxySetting>,
}

impl Http {
    pub(super) fn new(transport: Transport, base: &Url, proxy: Option<ProxySetting>) -> Self {
        let port = base.port_or_known_default().unwrap_or_default();
        let authority = format!("{}:{port}", base.host_str().unwrap_or_default());
        Http { transport, base: base.as_str().trim_end_matches('/').to_owned(), authority, proxy }
    }

    /// Sends one request once, with the token if there is one.
    pub(super) async fn send(&self, ask: &Ask, token: Option<&Secret>) -> Result<Reply, NoReply> {
        let url = format!("{}/open-apis/{}", self.base, ask.path);
        let mut request = self.common(self.transport.request(ask.method.clone(), &url), ask);
        for (name, value) in &ask.query {
            request = request.query(name, value);
        }
        request = match &ask.content {
            Content::Nothing => request,
            Content::Json(body) => request.body("application/json; charset=utf-8", body.to_string()),
            Content::Form(form) => {
                request.timeout(TRANSFER_LIMIT).read_timeout(TRANSFER_LIMIT).multipart(form.clone())
            }
            Content::Download(most) => {
                request.timeout(TRANSFER_LIMIT).max_body_bytes((*most).max(DOWNLOAD_BYTES_MIN))
            }
        };
        if let Some(token) = token {
            let secret = SecretText::new(token.expose());
            request = request.credential(CredentialBinding::bearer(secret, [self.authority.clone()]));
        }
        match Box::pin(request.send_any_status()).await {
            Ok(response) => Ok(reply(&response)),
            Err(error) => Err(NoReply::from(&error)),
        }
    }

    fn common(&self, request: RequestBuilder, ask: &Ask) -> RequestBuilder {
        let mut request = request
            .no_retry()
            .publish()
            .redirects(0)
            .paces_itself()
            .provider("feishu")
            .operation(ask.operation)
            .scope(SCOPE_LARK)
            .timeout(CALL_LIMIT)
            .read_timeout(CALL_LIMIT)
            .max_body_bytes(ANSWER_BYTES_MAX);
        if let Some(chat) = &ask.chat {
            request = request.chat(chat);
        }
        match &self.proxy {
            Some(proxy) => request.proxy(proxy.clone()),
            None => request,
        }
    }
}

fn reply(response: &Response) -> Reply {
    let header = |name| response.header(name).unwrap_or("").trim();
    Reply {
        status: response.status(),
        reset_s: header("x-ogw-ratelimit-reset").parse().ok(),
        log_id: header("x-tt-logid").to_owned(),
        content_type: header("content-type").to_ascii_lowercase(),
        bytes: Bytes::copy_from_slice(response.bytes()),
    }
}
