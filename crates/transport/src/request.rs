//! Building a request. Nothing is opened before `send`, `send_any_status` or `stream`.

mod start;

use std::time::Duration;

use bytes::Bytes;
use http::header::{IF_MODIFIED_SINCE, IF_NONE_MATCH};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use loom_domain::{Code, Error, Result};
use serde::Serialize;

use crate::body::Body;
use crate::cache::{CacheKey, Lookup};
use crate::call::{self, Call};
use crate::credential::{self, CredentialBinding};
use crate::egress::Hosts;
use crate::multipart::Multipart;
use crate::paging::{PageStream, Paging};
use crate::proxy::ProxySetting;
use crate::response::Response;
use crate::scope::Rate;
use crate::settings;
use crate::stream::ByteStream;
use crate::trace::TraceContext;
use crate::transport::Transport;

/// What becomes of an answer that asks to wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Throttles {
    /// It pauses the scope and is waited for.
    #[default]
    Waited,
    /// It pauses the scope, and the caller waits.
    HandedOn,
    /// It is waited for and pauses nobody else: the caller keeps a pace of its own.
    OfTheCaller,
}

/// Everything a caller said about a request.
#[derive(Debug, Clone)]
pub(crate) struct Spec {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: Body,
    pub(crate) timeout: Option<Duration>,
    pub(crate) connect_timeout: Duration,
    pub(crate) read_timeout: Duration,
    pub(crate) total_timeout: Duration,
    pub(crate) deadline: Duration,
    pub(crate) attempts: u32,
    pub(crate) credential: Option<CredentialBinding>,
    pub(crate) idempotent: bool,
    pub(crate) publish: bool,
    pub(crate) throttles: Throttles,
    pub(crate) provider: Option<String>,
    pub(crate) operation: Option<String>,
    pub(crate) bytes_max: u64,
    pub(crate) context: TraceContext,
    pub(crate) hosts: Hosts,
    pub(crate) scope: Option<String>,
    pub(crate) rate: Option<Rate>,
    pub(crate) chat: Option<String>,
    pub(crate) proxy: Option<ProxySetting>,
    pub(crate) redirects: u32,
    pub(crate) cache: Option<CacheKey>,
}

/// A request under construction. The first mistake is reported when it is sent; no socket is opened then.
#[derive(Debug)]
#[must_use = "a request does nothing until it is sent"]
pub struct RequestBuilder {
    transport: Transport,
    spec: Spec,
    mistake: Option<Error>,
}

impl RequestBuilder {
    pub(crate) fn new(transport: Transport, method: Method, url: &str) -> Self {
        let spec = Spec::new(transport.settings(), method, url);
        RequestBuilder { transport, spec, mistake: None }
    }

    pub(crate) fn of_spec(transport: Transport, spec: Spec) -> Self {
        RequestBuilder { transport, spec, mistake: None }
    }

    /// Adds a header. Headers that carry secrets are refused: see [`RequestBuilder::credential`].
    pub fn header(self, name: &str, value: &str) -> Self {
        self.attempt(|spec| spec.add_header(name, value))
    }

    /// Adds a query parameter.
    pub fn query(mut self, name: &str, value: &str) -> Self {
        self.spec.query.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends the value as JSON.
    pub fn json<T: Serialize + ?Sized>(self, value: &T) -> Self {
        self.attempt(|spec| {
            let bytes = serde_json::to_vec(value)
                .map_err(|_| Error::new(Code::InvalidInput, "the request body is not JSON"))?;
            spec.set_body(bytes.into(), "application/json")
        })
    }

    /// Sends the pairs as a form.
    pub fn form<N: AsRef<str>, V: AsRef<str>>(self, pairs: impl IntoIterator<Item = (N, V)>) -> Self {
        let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        self.attempt(|spec| spec.set_body(form.into(), "application/x-www-form-urlencoded"))
    }

    /// Sends a multipart form.
    pub fn multipart(self, form: Multipart) -> Self {
        let boundary = format!("loom-{:032x}", self.transport.core().entropy.bits());
        let kind = format!("multipart/form-data; boundary={boundary}");
        self.attempt(|spec| spec.set_body(form.into_body(&boundary), &kind))
    }

    /// Sends bytes or a file as they are.
    pub fn body(self, content_type: &str, body: impl Into<Body>) -> Self {
        let body = body.into();
        self.attempt(|spec| spec.set_body(body, content_type))
    }

    /// Limits one attempt, and lowers the connect and read limits to it.
    pub fn timeout(self, limit: Duration) -> Self {
        self.attempt(|spec| {
            settings::check_limit("timeout", limit)?;
            spec.timeout = Some(limit);
            Ok(())
        })
    }

    /// Limits one attempt in seconds as a command line gives them; no finite number in range is `usage`.
    pub fn timeout_seconds(self, seconds: f64) -> Self {
        let limit = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO);
        self.timeout(limit)
    }

    /// Limits DNS, TCP and TLS together.
    pub fn connect_timeout(self, limit: Duration) -> Self {
        self.attempt(|spec| {
            settings::check_limit("connect_timeout", limit)?;
            spec.connect_timeout = limit;
            Ok(())
        })
    }

    /// Limits the silence between two bytes.
    pub fn read_timeout(self, limit: Duration) -> Self {
        self.attempt(|spec| {
            settings::check_limit("read_timeout", limit)?;
            spec.read_timeout = limit;
            Ok(())
        })
    }

    /// Limits the call with its waits and retries.
    pub fn deadline(self, limit: Duration) -> Self {
        self.attempt(|spec| {
            settings::check_deadline(limit)?;
            spec.deadline = limit;
            Ok(())
        })
    }

    /// Adds a credential; only hosts it is bound to get to see it.
    pub fn credential(self, credential: CredentialBinding) -> Self {
        self.attempt(|spec| {
            credential.check()?;
            spec.credential = Some(credential);
            Ok(())
        })
    }

    /// Sends `Idempotency-Key` and declares that the provider honours it, so that the write may be repeated.
    pub fn idempotency_key(self, key: &str) -> Self {
        let builder = self.header("idempotency-key", key);
        builder.idempotent()
    }

    /// Declares that a repeat of this write has no second effect.
    pub fn idempotent(mut self) -> Self {
        self.spec.idempotent = true;
        self
    }

    /// Marks a visible write: it is never repeated once a byte of it was written.
    pub fn publish(mut self) -> Self {
        self.spec.publish = true;
        self
    }

    /// Makes one attempt only.
    pub fn no_retry(self) -> Self {
        self.retries(0)
    }

    /// Makes at most that many further attempts.
    pub fn retries(self, retries: u32) -> Self {
        self.attempt(|spec| {
            let attempts = retries.saturating_add(1);
            settings::check_attempts(attempts)?;
            spec.attempts = attempts;
            Ok(())
        })
    }

    /// Names the provider in errors and in the log.
    pub fn provider(mut self, provider: &str) -> Self {
        self.spec.provider = Some(provider.to_owned());
        self
    }

    /// Names the operation in errors and in the log.
    pub fn operation(mut self, operation: &str) -> Self {
        self.spec.operation = Some(operation.to_owned());
        self
    }

    /// Caps the decoded answer body.
    pub fn max_body_bytes(self, bytes: u64) -> Self {
        self.attempt(|spec| {
            settings::check_cap(bytes)?;
            spec.bytes_max = bytes;
            Ok(())
        })
    }

    /// Sets the tracing ids.
    pub fn context(mut self, context: TraceContext) -> Self {
        self.spec.context = context;
        self
    }

    /// Narrows the hosts that the request and its redirects may name.
    pub fn hosts(mut self, hosts: Hosts) -> Self {
        self.spec.hosts = hosts;
        self
    }

    /// Names the limiter scope; without one it is the host. `sec`, `github` and `lark` have the rates of
    /// [`crate::Rates`]; the public hosts of these providers are in them by themselves, the SEC's always.
    pub fn scope(mut self, scope: &str) -> Self {
        self.spec.scope = Some(scope.to_owned());
        self
    }

    /// Sets the rate of the scope, if it is none of the known ones.
    pub fn rate(mut self, rate: Rate) -> Self {
        self.spec.rate = Some(rate);
        self
    }

    /// Names the chat that a request to Lark writes to; a chat has a rate of its own.
    pub fn chat(mut self, chat: &str) -> Self {
        self.spec.chat = Some(chat.to_owned());
        self
    }

    /// The caller keeps the provider's throttles itself, by method: a 429 pauses no other request here.
    pub fn paces_itself(mut self) -> Self {
        self.spec.throttles = Throttles::OfTheCaller;
        self
    }

    /// The caller waits for throttles itself: they are answered at once, and still pause the scope.
    pub fn hands_throttles_on(mut self) -> Self {
        self.spec.throttles = Throttles::HandedOn;
        self
    }

    /// Uses another proxy setting than the transport's: that of a Connection.
    pub fn proxy(mut self, proxy: ProxySetting) -> Self {
        self.spec.proxy = Some(proxy);
        self
    }

    /// Follows that many redirects of a GET or HEAD. The default is none.
    pub fn redirects(mut self, most: u32) -> Self {
        self.spec.redirects = most.min(call::REDIRECTS_MAX);
        self
    }

    /// Asks conditionally where an earlier answer to this GET is known; see [`CacheKey`]. [`RequestBuilder::send`]
    /// then gives the body of the earlier answer when the process still has it, else a status of 304 with its
    /// [`Response::projection`]; both say `from_cache`. Keep a new projection with [`Transport::remember`].
    pub fn cache(mut self, key: CacheKey) -> Self {
        self.spec.cache = Some(key);
        self
    }

    /// Sends the request and reads the capped body. Every status but 2xx is an error, but for a 304 to a conditional
    /// request.
    pub async fn send(mut self) -> Result<Response> {
        let transport = self.transport.clone();
        let lookup = Lookup::start(transport.core(), &mut self.spec);
        let conditional =
            [IF_NONE_MATCH, IF_MODIFIED_SINCE].iter().any(|name| self.spec.headers.contains_key(name));
        let mut call = self.begin()?;
        let response = Box::pin(call.answer()).await?;
        if !(response.is_success() || conditional && response.status == 304) {
            return Err(call.status_error(&response));
        }
        match lookup {
            Some(lookup) => Ok(lookup.finish(transport.core(), response)),
            None => Ok(response),
        }
    }

    /// Sends the request and reads the capped body, whatever the status. Errors mean that no answer was read.
    pub async fn send_any_status(mut self) -> Result<Response> {
        let transport = self.transport.clone();
        let lookup = Lookup::start(transport.core(), &mut self.spec);
        let response = Box::pin(self.begin()?.answer()).await?;
        Ok(match lookup {
            Some(lookup) => lookup.finish(transport.core(), response),
            None => response,
        })
    }

    /// Sends the request and gives the body as it arrives. Every status but 2xx is an error.
    pub async fn stream(self) -> Result<ByteStream> {
        let mut call = self.begin()?;
        match Box::pin(call.open()).await? {
            call::Opened::Stream(stream) => Ok(*stream),
            call::Opened::Whole(response) => Err(call.status_error(&response)),
        }
    }

    /// Reads a list page by page. Nothing is sent before the first item is asked for.
    pub fn pages(self, paging: Paging) -> PageStream {
        PageStream::new(self.transport, self.spec, self.mistake, paging)
    }

    fn begin(self) -> Result<Call> {
        match self.mistake {
            Some(mistake) => Err(crate::fault::stamp(mistake, crate::Written::No)),
            None => {
                Call::begin(self.transport, self.spec).map_err(|e| crate::fault::stamp(e, crate::Written::No))
            }
        }
    }

    fn attempt(mut self, change: impl FnOnce(&mut Spec) -> Result<()>) -> Self {
        if let Err(mistake) = change(&mut self.spec) {
            self.mistake.get_or_insert(mistake);
        }
        self
    }
}

impl Spec {
    /// Adds a header after judging its form and whether it may be literal.
    pub(crate) fn add_header(&mut self, name: &str, value: &str) -> Result<()> {
        let (name, value) = parse_header(name, value)?;
        self.headers.append(name, value);
        Ok(())
    }

    fn set_body(&mut self, body: Body, content_type: &str) -> Result<()> {
        let wrong = || Error::new(Code::InvalidInput, "the content type is not a header value");
        let kind = HeaderValue::from_str(content_type).map_err(|_| wrong())?;
        self.headers.insert(http::header::CONTENT_TYPE, kind);
        self.body = body;
        Ok(())
    }
}

/// Reads a header; those that carry secrets are refused.
fn parse_header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue)> {
    let wrong =
        || Error::new(Code::InvalidInput, "a header name or value has characters that may not stand there");
    let name = HeaderName::try_from(name).map_err(|_| wrong())?;
    credential::refuse_literal(&name)?;
    let value =
        HeaderValue::from_maybe_shared(Bytes::copy_from_slice(value.as_bytes())).map_err(|_| wrong())?;
    Ok((name, value))
}
