//! Tracing metadata: who asked, and which headers a host may see of it.

use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, HeaderName, HeaderValue};
use sha2::Sha256;

use crate::clock::Entropy;

/// The ids that every request is built from. Outside a Turn the first two are absent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TraceContext {
    /// Agent that caused the request.
    pub agent_id: Option<String>,
    /// Turn that caused the request.
    pub turn_id: Option<String>,
    /// Run of a capability that caused the request.
    pub run_id: Option<String>,
    /// Id of the request; made by the transport if absent.
    pub request_id: Option<String>,
    /// W3C trace id, 32 lower-case hex digits; made by the transport if absent.
    pub trace_id: Option<String>,
    /// W3C span id, 16 lower-case hex digits; made by the transport if absent.
    pub span_id: Option<String>,
}

/// The trace of one request with nothing absent.
#[derive(Debug, Clone)]
#[expect(clippy::struct_field_names, reason = "the names of the tracing headers")]
pub(crate) struct Trace {
    pub(crate) agent_id: Option<String>,
    pub(crate) turn_id: Option<String>,
    pub(crate) run_id: Option<String>,
    pub(crate) request_id: String,
    pub(crate) trace_id: String,
    pub(crate) span_id: String,
}

/// Which tracing headers a host gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exposure {
    /// Loopback local origins and trusted hosts: everything.
    Full,
    /// Every other host: an unrelated `traceparent`.
    Outer,
    /// None at all.
    Off,
}

impl Trace {
    pub(crate) fn complete(context: TraceContext, request_id: String, entropy: &dyn Entropy) -> Self {
        Trace {
            agent_id: context.agent_id,
            turn_id: context.turn_id,
            run_id: context.run_id,
            request_id: context.request_id.unwrap_or(request_id),
            trace_id: context.trace_id.unwrap_or_else(|| hex::encode(entropy.bits().to_be_bytes())),
            span_id: context.span_id.unwrap_or_else(|| span_id(entropy)),
        }
    }

    /// The outer trace id: stable per Turn (else per trace) and host, unrelated to Loom's own.
    pub(crate) fn outer_id(&self, key: &[u8], host: &str) -> String {
        let scope = self.turn_id.as_deref().unwrap_or(&self.trace_id);
        let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
        mac.update(b"outer-trace\0");
        mac.update(scope.as_bytes());
        mac.update(b"\0");
        mac.update(host.as_bytes());
        hex::encode(mac.finalize().into_bytes()).chars().take(32).collect()
    }

    pub(crate) fn headers(&self, exposure: Exposure, outer_id: &str, entropy: &dyn Entropy) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let parent = match exposure {
            Exposure::Off => return headers,
            Exposure::Outer => format!("00-{outer_id}-{}-01", span_id(entropy)),
            Exposure::Full => format!("00-{}-{}-01", self.trace_id, self.span_id),
        };
        put(&mut headers, "traceparent", &parent);
        if exposure == Exposure::Full {
            put(&mut headers, "x-loom-request-id", &self.request_id);
            for (name, id) in [("x-loom-agent-id", &self.agent_id), ("x-loom-turn-id", &self.turn_id)] {
                if let Some(id) = id {
                    put(&mut headers, name, id);
                }
            }
        }
        headers
    }
}

fn span_id(entropy: &dyn Entropy) -> String {
    hex::encode(entropy.bits().to_be_bytes()).chars().take(16).collect()
}

fn put(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(HeaderName::from_static(name), value);
    }
}
