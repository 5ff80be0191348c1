//! Cassettes `loom.cassette/v1`: request and answer pairs, one JSON line each, without secrets.

mod cassette;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use http::{HeaderMap, HeaderName, HeaderValue};
use loom_domain::{Code, Error, Result};

use super::{HttpBackend, Prepared, RawResponse};
use crate::fault::{NetworkFault, Phase};
pub use cassette::Subject;
use cassette::{Pair, Recorded, Request};

/// Largest body that is recorded.
const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Rewrites a text before it is written.
type Redact = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// What a cassette does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Record,
    Replay,
    ReplayStrict,
}

/// Records what another backend answers, or answers out of a recording.
pub struct RecordedBackend {
    mode: Mode,
    path: PathBuf,
    inner: Option<Arc<dyn HttpBackend>>,
    redact: Redact,
    subject: Subject,
    pairs: Mutex<Vec<Option<Pair>>>,
}

impl std::fmt::Debug for RecordedBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordedBackend").field("mode", &self.mode).finish_non_exhaustive()
    }
}

impl RecordedBackend {
    /// Records the answers of another backend into a new file.
    pub fn record(
        path: &Path,
        inner: Arc<dyn HttpBackend>,
        redact: impl Fn(&str) -> String + Send + Sync + 'static,
    ) -> Result<Self> {
        cassette::start(path)
            .map_err(|_| Error::new(Code::InvalidInput, "the cassette cannot be written"))?;
        Ok(RecordedBackend {
            mode: Mode::Record,
            path: path.to_owned(),
            inner: Some(inner),
            redact: Arc::new(redact),
            subject: Subject::new(),
            pairs: Mutex::default(),
        })
    }

    /// Says in each pair what the recorded run is about.
    pub fn about(mut self, subject: Subject) -> Self {
        self.subject = subject;
        self
    }

    /// Answers out of a file; each pair once, in any order.
    pub fn replay(path: &Path) -> Result<Self> {
        Self::load(path, Mode::Replay)
    }

    /// Answers out of a file in its order; see also [`RecordedBackend::left`].
    pub fn replay_strict(path: &Path) -> Result<Self> {
        Self::load(path, Mode::ReplayStrict)
    }

    /// Pairs that were not asked for. A strict replay is complete when there are none.
    pub fn left(&self) -> usize {
        self.lock().iter().flatten().count()
    }

    /// The hosts that the recording holds.
    pub fn hosts(&self) -> Vec<String> {
        let of = |p: &Pair| Some(url::Url::parse(&p.request.url).ok()?.host_str()?.to_owned());
        let mut hosts: Vec<String> = self.lock().iter().flatten().filter_map(of).collect();
        hosts.sort();
        hosts.dedup();
        hosts
    }

    /// What the recorded runs were about, without those that did not say.
    pub fn subjects(&self) -> Vec<Subject> {
        let mut all: Vec<Subject> = self.lock().iter().flatten().map(|pair| pair.subject.clone()).collect();
        all.retain(|subject| !subject.is_empty());
        all.sort();
        all.dedup();
        all
    }

    fn load(path: &Path, mode: Mode) -> Result<Self> {
        let pairs = cassette::read(path)?.into_iter().map(Some).collect();
        let redact: Redact = Arc::new(str::to_owned);
        let (path, subject, pairs) = (path.to_owned(), Subject::new(), Mutex::new(pairs));
        Ok(RecordedBackend { mode, path, inner: None, redact, subject, pairs })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Option<Pair>>> {
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, request: &Request) -> Result<Recorded, NetworkFault> {
        let missing = || NetworkFault::network(Phase::Replay, "the cassette has no answer to this request");
        let mut pairs = self.lock();
        let found = match self.mode {
            Mode::ReplayStrict => pairs.iter_mut().find(|p| p.is_some()),
            Mode::Replay | Mode::Record => {
                pairs.iter_mut().find(|p| p.as_ref().is_some_and(|p| p.request == *request))
            }
        };
        let slot = found.ok_or_else(missing)?;
        let pair = slot.take_if(|p| p.request == *request).ok_or_else(missing)?;
        Ok(pair.answer)
    }

    async fn record_answer(&self, request: Request, prepared: Prepared) -> Result<RawResponse, NetworkFault> {
        let unable = || NetworkFault::network(Phase::Replay, "nothing is recorded here");
        let credential = prepared.credential.clone();
        let raw = self.inner.as_ref().ok_or_else(unable)?.execute(prepared).await?;
        let (status, headers, address) = (raw.status, raw.headers, raw.address);
        let body = collect(raw.body).await?;
        let clean = |text: &str| cassette::clean(text, credential.as_ref(), &*self.redact);
        let answer = Recorded::new(status, &headers, &body, &clean);
        if cassette::append(&self.path, &Pair::new(self.subject.clone(), request, answer)).is_err() {
            tracing::warn!("the cassette cannot be written");
        }
        let body = Box::pin(futures_util::stream::once(async move { Ok(body) }));
        Ok(RawResponse { status, headers, body, address })
    }
}

#[async_trait]
impl HttpBackend for RecordedBackend {
    async fn execute(&self, prepared: Prepared) -> Result<RawResponse, NetworkFault> {
        let body = prepared.body.collect().await.unwrap_or_default();
        let credential = prepared.credential.clone();
        let request =
            Request::new(&prepared, &body, &|t| cassette::clean(t, credential.as_ref(), &*self.redact));
        if self.mode == Mode::Record {
            return self.record_answer(request, prepared).await;
        }
        let answer = self.find(&request)?;
        let bytes =
            answer.bytes().ok_or_else(|| NetworkFault::network(Phase::Replay, "the cassette is damaged"))?;
        let mut headers = HeaderMap::new();
        for (name, value) in &answer.headers {
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_str(value)) {
                headers.append(name, value);
            }
        }
        let body = Box::pin(futures_util::stream::once(async move { Ok(bytes) }));
        Ok(RawResponse { status: answer.status, headers, body, address: None })
    }

    fn resolves(&self) -> bool {
        self.mode == Mode::Record
    }
}

async fn collect(
    mut body: futures_util::stream::BoxStream<'static, Result<Bytes, NetworkFault>>,
) -> Result<Bytes, NetworkFault> {
    let mut all = BytesMut::new();
    while let Some(bytes) = body.next().await {
        all.extend_from_slice(&bytes?);
        if all.len() > BODY_BYTES_MAX {
            return Err(NetworkFault::receive(
                crate::FaultKind::TooLarge,
                "the answer is too large to record",
            ));
        }
    }
    Ok(all.freeze())
}
