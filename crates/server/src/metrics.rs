//! Counters of the server, and the `OpenMetrics` text of all counters of the process.

mod process;

use std::sync::Arc;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use loom_domain::Error;

/// The metrics of another room.
pub trait MetricsSource: Send + Sync {
    /// Them as `OpenMetrics` text.
    fn text(&self) -> String;
}

const END: &str = "# EOF\n";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Request {
    route: String,
    code: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    route: String,
}

type Seconds = Family<Route, Histogram, fn() -> Histogram>;

/// Counters of the server in one registry with those of the other rooms.
pub struct Metrics {
    registry: Registry,
    requests: Family<Request, Counter>,
    seconds: Seconds,
    sse_clients: Gauge,
    process: process::Gauges,
    sources: Vec<Arc<dyn MetricsSource>>,
}

impl Metrics {
    /// Makes the registry; `sources` are told together with it.
    pub fn new(version: &str, sources: Vec<Arc<dyn MetricsSource>>) -> Self {
        let mut registry = Registry::with_prefix("loom");
        let requests = Family::default();
        let seconds: Seconds = Family::new_with_constructor(seconds_histogram);
        let sse_clients = Gauge::default();
        registry.register("http_requests", "Requests by route and status", requests.clone());
        registry.register_with_unit(
            "http_request",
            "Time to the head of the answer",
            Unit::Seconds,
            seconds.clone(),
        );
        registry.register("sse_clients", "Open event streams", sse_clients.clone());
        registry.register("sse_streams", "Open event streams", sse_clients.clone());
        registry.register("build", "This build", Info::new(vec![("version", version.to_owned())]));
        let process = process::Gauges::register(&mut registry);
        Metrics { registry, requests, seconds, sse_clients, process, sources }
    }

    /// Notes the time from the start of the process until it served.
    pub fn started_in(&self, took: Duration) {
        self.process.start.set(took.as_secs_f64());
    }

    /// Counts one answered request; `route` is a pattern, never a path.
    pub(crate) fn answered(&self, route: &str, code: u16, took: Duration) {
        self.requests.get_or_create(&Request { route: route.to_owned(), code }).inc();
        self.seconds.get_or_create(&Route { route: route.to_owned() }).observe(took.as_secs_f64());
    }

    /// Counts an event stream until the value is dropped.
    pub(crate) fn stream_opened(self: &Arc<Self>) -> OpenStream {
        self.sse_clients.inc();
        OpenStream(Arc::clone(self))
    }

    /// Writes everything as `OpenMetrics` text.
    pub(crate) fn exposition(&self) -> Result<String, Error> {
        self.process.refresh();
        let mut text = String::new();
        encode(&mut text, &self.registry).map_err(Error::internal)?;
        for source in &self.sources {
            text.truncate(text.trim_end_matches(END).len());
            text.push_str(&source.text());
        }
        Ok(text)
    }
}

fn seconds_histogram() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 4.0, 8))
}

/// An event stream that is counted as open.
pub(crate) struct OpenStream(Arc<Metrics>);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.sse_clients.dec();
    }
}
