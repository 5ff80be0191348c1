//! Slack: Socket Mode in, Web API out.
//!
//! Invariants
//! - An envelope is acknowledged after the hub's commit, over the socket it came from.
//! - Events of one conversation are offered in the order of their arrival, also across two sockets.
//! - `chat.postMessage` and `files.completeUploadExternal` are called once per attempt.

mod api;
mod attachment;
mod caches;
mod deliver;
mod directory;
mod errors;
mod history;
mod http;
mod marks;
mod settle;
mod socket;
mod translate;
mod wire;

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use loom_domain::{Code, Error, TextFormat};
use loom_secrets::{Fields, Secret};
use loom_transport::{ProxySetting, Transport};
use url::Url;

use crate::breaker::Breaker;
use crate::{
    CandidateInfo, Channel, CheckTarget, Fault, FaultClass, FetchedFile, HistoryPage, HistoryQuery, Identity,
    Mark, Pacing, Progress, SendOutcome, SendPart, Session, SessionEnd, SettlePart, Settlement,
};
use api::WebApi;
use caches::{Echoes, Kinds, Names};
use http::Http;
use translate::Own;

/// Event type of the metadata on our messages.
const METADATA_TYPE: &str = "loom_outbox";
/// Largest file Slack takes, bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// What a Slack channel is made with.
#[derive(Debug, Clone)]
pub struct SlackSettings {
    /// Base URL of the Web API; none is Slack's own. A bare origin gets `/api/`.
    pub api_url: Option<String>,
    /// Bot token (`xoxb-`).
    pub bot_token: Secret,
    /// App token (`xapp-`), needed to serve a session.
    pub app_token: Option<Secret>,
    /// Proxy of the Connection for REST, WebSocket and files; none leaves the transport's own.
    pub proxy: Option<ProxySetting>,
}

impl SlackSettings {
    /// Takes the tokens from a resolved credential.
    pub fn from_fields(fields: &Fields) -> Result<Self, Error> {
        let bot_token = fields
            .get("bot_token")
            .ok_or_else(|| Error::new(Code::CredentialMissing, "the credential has no bot_token"))?;
        let app_token = fields.get("app_token").cloned();
        Ok(SlackSettings { api_url: None, bot_token: bot_token.clone(), app_token, proxy: None })
    }
}

/// One Slack app in one workspace.
#[derive(Debug, Clone)]
pub struct SlackChannel {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    api: WebApi,
    own: RwLock<Option<Own>>,
    names: Names,
    kinds: Kinds,
    echoes: Echoes,
    breaker: Breaker,
    bot_token_kind: TokenKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    Bot,
    Other,
}

impl SlackChannel {
    /// Makes the channel of one Connection; opens nothing.
    pub fn new(transport: Transport, settings: SlackSettings) -> Result<Self, Error> {
        let base = base_url(settings.api_url.as_deref().unwrap_or(http::API_URL))?;
        let is_bot = settings.bot_token.expose().starts_with("xoxb-");
        let http = Http::new(transport, base, settings.bot_token, settings.app_token, settings.proxy);
        let inner = Inner {
            api: WebApi::new(http),
            own: RwLock::default(),
            names: Names::default(),
            kinds: Kinds::default(),
            echoes: Echoes::default(),
            breaker: Breaker::default(),
            bot_token_kind: if is_bot { TokenKind::Bot } else { TokenKind::Other },
        };
        Ok(SlackChannel { inner: Arc::new(inner) })
    }
}

/// Splits a text into messages that fit Slack after translation.
pub fn split(text: &str, format: TextFormat, chunks_max: usize) -> Result<Vec<String>, Error> {
    deliver::split(text, format, chunks_max)
}

fn base_url(text: &str) -> Result<Url, Error> {
    let mut url = Url::parse(text).map_err(|_| Error::invalid("apiUrl", "expected a URL"))?;
    if url.path() == "/" {
        url.set_path("/api/");
    } else if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

impl Inner {
    fn known_own(&self) -> Option<Own> {
        self.own.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_own(&self, own: Own) {
        *self.own.write().unwrap_or_else(PoisonError::into_inner) = Some(own);
    }

    /// A user token would act as a person; it is refused before any call.
    fn check_tokens(&self) -> Result<(), Fault> {
        match self.bot_token_kind {
            TokenKind::Bot => Ok(()),
            TokenKind::Other => Err(Fault::new(
                FaultClass::Config,
                "not_allowed_token_type",
                "slack needs a bot token (xoxb-)",
            )),
        }
    }
}

#[async_trait]
impl Channel for SlackChannel {
    fn provider(&self) -> &'static str {
        "slack"
    }

    fn pacing(&self) -> Pacing {
        Pacing { conversation_per_s: 1, conversation_burst: 3, connection_per_s: 10 }
    }

    fn split(&self, text: &str, format: TextFormat, chunks_max: usize) -> Result<Vec<String>, Error> {
        deliver::split(text, format, chunks_max)
    }

    fn check_file(&self, name: &str, _mime_type: &str, size: u64) -> Result<(), Error> {
        deliver::check_size(name, size)
    }

    async fn verify(&self) -> Result<Identity, Fault> {
        self.inner.verify().await
    }

    async fn serve(&self, session: Session) -> SessionEnd {
        Box::pin(socket::serve(Arc::clone(&self.inner), session)).await
    }

    async fn deliver(&self, part: SendPart, progress: &dyn Progress) -> SendOutcome {
        self.inner.deliver(&part, progress).await
    }

    async fn settle(&self, part: SettlePart) -> Settlement {
        self.inner.settle(&part).await
    }

    async fn history(&self, query: HistoryQuery) -> Result<HistoryPage, Fault> {
        self.inner.history(&query).await
    }

    async fn fetch_attachment(&self, reference: &str, bytes_max: u64) -> Result<FetchedFile, Fault> {
        self.inner.fetch_attachment(reference, bytes_max).await
    }

    async fn check_target(&self, target: CheckTarget) -> Result<bool, Fault> {
        self.inner.check_target(&target).await
    }

    async fn mark(&self, conversation_id: &str, message_id: &str, mark: Mark) -> Result<(), Fault> {
        self.inner.mark(conversation_id, message_id, mark).await
    }

    async fn candidates(&self) -> Result<Vec<CandidateInfo>, Fault> {
        self.inner.candidates().await
    }

    async fn conversation(&self, conversation_id: &str) -> Result<CandidateInfo, Fault> {
        self.inner.conversation(conversation_id).await
    }

    async fn actor_name(&self, actor_id: &str) -> Option<String> {
        self.inner.actor_name(actor_id).await
    }
}

#[cfg(test)]
mod tests;
