//! Feishu and Lark: the Open API out. Nothing comes in.
//!
//! Invariants
//! - Every visible call carries the uuid of its Part, so that the platform shows a Part at most once within an hour.
//! - A Part whose outcome is not known is repeated with that uuid only while the platform is sure to remember it.
//! - The token is fetched by one call at a time, and never shown.

mod api;
mod attachment;
mod deliver;
mod directory;
mod errors;
mod history;
mod http;
mod marks;
mod session;
mod settle;
mod token;
mod uuid;
mod wire;

use std::sync::Arc;

use async_trait::async_trait;
use loom_domain::{Code, Error, TextFormat};
use loom_secrets::{Fields, Secret};
use loom_transport::{Clock, ProxySetting, SystemClock, Transport};
use url::Url;

use crate::breaker::Breaker;
use crate::{
    CandidateInfo, Channel, CheckTarget, Fault, FetchedFile, HistoryPage, HistoryQuery, Identity, Mark,
    Pacing, Progress, SendOutcome, SendPart, Session, SessionEnd, SettlePart, Settlement,
};
use api::Api;
use http::Http;

/// Which of the two platforms an app belongs to; it selects the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Brand {
    /// Feishu.
    #[default]
    Feishu,
    /// Lark.
    Lark,
}

impl Brand {
    /// Reads the word of a Connection; none is Feishu.
    pub fn parse(word: Option<&str>) -> Result<Self, Error> {
        match word {
            None | Some("" | "feishu") => Ok(Brand::Feishu),
            Some("lark") => Ok(Brand::Lark),
            Some(_) => Err(Error::invalid("brand", "use feishu or lark")),
        }
    }

    /// Base URL of the platform.
    fn api_url(self) -> &'static str {
        match self {
            Brand::Feishu => "https://open.feishu.cn",
            Brand::Lark => "https://open.larksuite.com",
        }
    }
}

/// What a Feishu channel is made with.
#[derive(Clone)]
pub struct FeishuSettings {
    /// Base URL in the place of the brand's.
    pub api_url: Option<String>,
    /// Brand.
    pub brand: Brand,
    /// App id (`cli_`).
    pub app_id: String,
    /// App secret.
    pub app_secret: Secret,
    /// Proxy of the Connection; none leaves the transport's own.
    pub proxy: Option<ProxySetting>,
    /// Tells how long ago an attempt was.
    pub clock: Arc<dyn Clock>,
}

impl FeishuSettings {
    /// Takes the app from a resolved credential.
    pub fn from_fields(fields: &Fields, brand: Brand) -> Result<Self, Error> {
        let field = |name: &str| {
            let missing = || Error::new(Code::CredentialMissing, format!("the credential has no {name}"));
            fields.get(name).ok_or_else(missing)
        };
        Ok(FeishuSettings {
            api_url: None,
            brand,
            app_id: field("app_id")?.expose().to_owned(),
            app_secret: field("app_secret")?.clone(),
            proxy: None,
            clock: Arc::new(SystemClock),
        })
    }
}

impl std::fmt::Debug for FeishuSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FeishuSettings")
            .field("brand", &self.brand)
            .field("app_id", &self.app_id)
            .finish_non_exhaustive()
    }
}

/// One app of Feishu or Lark in one tenant.
#[derive(Clone)]
pub struct FeishuChannel {
    inner: Arc<Inner>,
}

impl std::fmt::Debug for FeishuChannel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FeishuChannel").field("app_id", &self.inner.app_id).finish_non_exhaustive()
    }
}

struct Inner {
    api: Api,
    app_id: String,
    breaker: Breaker,
    clock: Arc<dyn Clock>,
}

impl FeishuChannel {
    /// Makes the channel of one Connection; opens nothing.
    pub fn new(transport: Transport, settings: FeishuSettings) -> Result<Self, Error> {
        let base = settings.api_url.as_deref().unwrap_or(settings.brand.api_url());
        let base = Url::parse(base).map_err(|_| Error::invalid("apiUrl", "expected a URL"))?;
        let http = Http::new(transport, &base, settings.proxy);
        let inner = Inner {
            api: Api::new(http, settings.app_id.clone(), settings.app_secret),
            app_id: settings.app_id,
            breaker: Breaker::default(),
            clock: settings.clock,
        };
        Ok(FeishuChannel { inner: Arc::new(inner) })
    }
}

/// Splits a text into messages that fit Feishu after translation.
pub fn split(text: &str, format: TextFormat, chunks_max: usize) -> Result<Vec<String>, Error> {
    deliver::split(text, format, chunks_max)
}

#[async_trait]
impl Channel for FeishuChannel {
    fn provider(&self) -> &'static str {
        "feishu"
    }

    fn receives(&self) -> bool {
        false
    }

    fn pacing(&self) -> Pacing {
        // 1,000 a minute for the app is 16 a second; bursts below that wait at the transport's own limit.
        Pacing { conversation_per_s: 4, conversation_burst: 5, connection_per_s: 16 }
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
        Box::pin(session::serve(&self.inner, session)).await
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

    async fn mark(&self, _conversation_id: &str, message_id: &str, mark: Mark) -> Result<(), Fault> {
        self.inner.mark(message_id, mark).await
    }

    async fn candidates(&self) -> Result<Vec<CandidateInfo>, Fault> {
        self.inner.candidates().await
    }

    async fn conversation(&self, conversation_id: &str) -> Result<CandidateInfo, Fault> {
        self.inner.conversation(conversation_id).await
    }

    /// Nobody's words come in, so nobody's name is asked for.
    async fn actor_name(&self, _actor_id: &str) -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests;
