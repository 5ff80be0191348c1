//! Answers that are asked for again only if they changed (capabilities specification, 2.5). Nothing is ever used
//! unasked: the provider confirms it with a 304.

mod disk;
mod memory;

use std::fmt::Debug;
use std::sync::Arc;

use http::header::{CACHE_CONTROL, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};
use http::{HeaderMap, HeaderValue, Method};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::request::Spec;
use crate::response::Response;
use crate::transport::Core;

pub use disk::ProjectionDir;
pub(crate) use memory::Memory;

/// Longest validator that is kept.
const VALIDATOR_BYTES_MAX: usize = 1_024;

/// How stored answers are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheMode {
    /// Asks whether the stored answer still holds.
    #[default]
    Use,
    /// `--no-cache`: nothing stored is used without asking. The transport never does; what else keeps answers must not.
    NoCache,
    /// `--refresh`: asks for the whole answer, without conditional headers, and stores it anew.
    Refresh,
}

/// What makes an answer the same one, beside its method, URL, `Accept` and credential.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CacheKey {
    /// Version of the provider's API.
    pub api_version: String,
    /// Digest of the projection; a changed one misses.
    pub projection_digest: String,
    /// How stored answers are used.
    pub mode: CacheMode,
}

/// What the disk keeps of an answer: never its body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredProjection {
    /// `ETag`, as it was sent.
    pub etag: Option<String>,
    /// `Last-Modified`, as it was sent.
    pub last_modified: Option<String>,
    /// The projected and redacted result.
    pub projection: Value,
}

/// Where projections are kept. A store that fails is a miss, never an error.
pub trait ProjectionStore: Send + Sync + Debug {
    /// What is kept under a key of 64 hex digits.
    fn load(&self, key: &str) -> Option<StoredProjection>;
    /// Keeps it.
    fn save(&self, key: &str, stored: &StoredProjection);
    /// Forgets it.
    fn remove(&self, key: &str);
}

/// `ETag` and `Last-Modified` of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Validators {
    etag: Option<String>,
    last_modified: Option<String>,
}

impl Validators {
    fn of(headers: &HeaderMap) -> Self {
        let text = |name| {
            let value = headers.get(name)?.to_str().ok()?;
            (value.len() <= VALIDATOR_BYTES_MAX).then(|| value.to_owned())
        };
        Validators { etag: text(ETAG), last_modified: text(LAST_MODIFIED) }
    }

    fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }

    fn ask(&self, headers: &mut HeaderMap) {
        for (name, value) in [(IF_NONE_MATCH, &self.etag), (IF_MODIFIED_SINCE, &self.last_modified)] {
            if let Some(value) = value.as_ref().and_then(|value| HeaderValue::from_str(value).ok()) {
                headers.insert(name, value);
            }
        }
    }
}

/// Where an answer is kept, for [`crate::Transport::remember`].
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    key: String,
    validators: Validators,
}

/// A request with a place in the cache.
#[derive(Debug)]
pub(crate) struct Lookup {
    key: String,
    whole: Option<Response>,
    stored: Option<StoredProjection>,
}

impl Lookup {
    /// Looks a read up and adds its conditional headers.
    pub(crate) fn start(core: &Core, spec: &mut Spec) -> Option<Lookup> {
        let cache = spec.cache.clone().filter(|_| spec.method == Method::GET)?;
        let key = digest(core, spec, &cache);
        if cache.mode == CacheMode::Refresh {
            return Some(Lookup { key, whole: None, stored: None });
        }
        let whole = core.memory.get(&key);
        let stored = core.projections.as_ref().and_then(|store| store.load(&key));
        let validators = match (&whole, &stored) {
            (Some(response), _) => Validators::of(&response.headers),
            (None, Some(stored)) => {
                Validators { etag: stored.etag.clone(), last_modified: stored.last_modified.clone() }
            }
            (None, None) => Validators::default(),
        };
        validators.ask(&mut spec.headers);
        Some(Lookup { key, whole, stored })
    }

    /// The stored answer behind a 304, or the new one, which is kept.
    pub(crate) fn finish(self, core: &Core, mut response: Response) -> Response {
        if response.status == 304 {
            let mut meta = response.meta;
            meta.from_cache = true;
            let validators = Validators::of(&response.headers);
            let mut found = match self.whole {
                Some(whole) => Response { meta, ..whole },
                None => Response::new(response.status, response.headers, response.body, meta),
            };
            found.projection = self.stored.map(|stored| Arc::new(stored.projection));
            let validators = if validators.is_empty() { Validators::of(&found.headers) } else { validators };
            found.slot = Some(Slot { key: self.key, validators });
            return found;
        }
        if !response.is_success() {
            return response;
        }
        let validators = Validators::of(&response.headers);
        if forbids_storing(&response.headers) || validators.is_empty() {
            core.memory.remove(&self.key);
            if let Some(store) = &core.projections {
                store.remove(&self.key);
            }
            return response;
        }
        core.memory.put(&self.key, &response);
        response.slot = Some(Slot { key: self.key, validators });
        response
    }
}

/// Keeps the projection of an answer on disk.
pub(crate) fn remember(core: &Core, response: &Response, projection: &Value) {
    if let (Some(store), Some(slot)) = (&core.projections, &response.slot) {
        let Validators { etag, last_modified } = slot.validators.clone();
        store.save(&slot.key, &StoredProjection { etag, last_modified, projection: projection.clone() });
    }
}

fn forbids_storing(headers: &HeaderMap) -> bool {
    let values = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|word| word.trim().eq_ignore_ascii_case("no-store"))
}

fn digest(core: &Core, spec: &Spec, cache: &CacheKey) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&spec.query).finish();
    let accept = spec.headers.get(http::header::ACCEPT).map_or(&b"*/*"[..], HeaderValue::as_bytes);
    let fingerprint = spec.credential.as_ref().map(|c| c.fingerprint(&core.key)).unwrap_or_default();
    let mut hash = Sha256::new();
    for part in [
        spec.method.as_str().as_bytes(),
        spec.url.as_bytes(),
        query.as_bytes(),
        accept,
        cache.api_version.as_bytes(),
        fingerprint.as_bytes(),
        cache.projection_digest.as_bytes(),
    ] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hex::encode(hash.finalize())
}
