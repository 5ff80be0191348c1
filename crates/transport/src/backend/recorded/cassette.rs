//! The file of a cassette.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::HeaderMap;
use loom_domain::{Code, Error, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::backend::Prepared;
use crate::credential::CredentialBinding;

const SCHEMA: &str = "loom.cassette/v1";
/// Most pairs of a cassette.
const PAIRS_MAX: usize = 10_000;
/// Most bytes of a cassette.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Answer headers that are kept; the others are of no use in a replay and may hold secrets.
const HEADERS: [&str; 9] = [
    "content-type",
    "content-encoding",
    "etag",
    "last-modified",
    "link",
    "location",
    "retry-after",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
];

/// Names of the objects that a run is about.
pub type Subject = BTreeMap<String, String>;

/// One line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pair {
    schema_version: String,
    /// What the recorded run was about: a repository, a company. Empty for single requests.
    #[serde(default, skip_serializing_if = "Subject::is_empty")]
    pub(super) subject: Subject,
    pub(super) request: Request,
    pub(super) answer: Recorded,
}

/// What identifies a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) url: String,
    pub(super) credential: Option<String>,
    pub(super) body_digest: Option<String>,
}

/// An answer; the body is text, or base64 if it is not.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recorded {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

impl Pair {
    pub(super) fn new(subject: Subject, request: Request, answer: Recorded) -> Self {
        Pair { schema_version: SCHEMA.to_owned(), subject, request, answer }
    }
}

impl Request {
    pub(super) fn new(prepared: &Prepared, body: &[u8], clean: &dyn Fn(&str) -> String) -> Self {
        Request {
            method: prepared.method.to_string(),
            url: clean(prepared.url.as_str()),
            credential: prepared.credential.as_ref().map(|c| placeholder(&c.field)),
            body_digest: (!body.is_empty()).then(|| format!("sha256:{}", hex::encode(Sha256::digest(body)))),
        }
    }
}

impl Recorded {
    pub(super) fn new(
        status: u16,
        headers: &HeaderMap,
        body: &Bytes,
        clean: &dyn Fn(&str) -> String,
    ) -> Self {
        let kept = HEADERS
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), clean(headers.get(*name)?.to_str().ok()?))));
        let (text, base64) = match std::str::from_utf8(body) {
            Ok(text) => (Some(clean(text)), None),
            Err(_) => (None, Some(STANDARD.encode(body))),
        };
        Recorded { status, headers: kept.collect(), text, base64 }
    }

    pub(super) fn bytes(&self) -> Option<Bytes> {
        match (&self.text, &self.base64) {
            (Some(text), None) => Some(Bytes::copy_from_slice(text.as_bytes())),
            (None, Some(coded)) => Some(Bytes::from(STANDARD.decode(coded).ok()?)),
            _ => None,
        }
    }
}

/// Replaces the credential by its placeholder, then redacts.
pub(super) fn clean(
    text: &str,
    credential: Option<&CredentialBinding>,
    redact: &(dyn Fn(&str) -> String + Send + Sync),
) -> String {
    let Some(credential) = credential else { return redact(text) };
    let (secret, mark) = (credential.value.expose(), placeholder(&credential.field));
    let coded: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    redact(&text.replace(secret, &mark).replace(&coded, &mark).replace(&STANDARD.encode(secret), &mark))
}

fn placeholder(field: &str) -> String {
    format!("{{{{credential:{field}}}}}")
}

pub(super) fn start(path: &Path) -> std::io::Result<()> {
    OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(path).map(drop)
}

pub(super) fn append(path: &Path, pair: &Pair) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(pair)?;
    line.push(b'\n');
    OpenOptions::new().append(true).open(path)?.write_all(&line)
}

pub(super) fn read(path: &Path) -> Result<Vec<Pair>> {
    let wrong = |why: &str| Error::new(Code::InvalidInput, format!("the cassette {why}"));
    let file = File::open(path).map_err(|_| wrong("cannot be opened"))?;
    if !file.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= FILE_BYTES_MAX) {
        return Err(wrong("is no file of at most 256 MiB"));
    }
    let mut pairs = Vec::new();
    for line in BufReader::new(file.take(FILE_BYTES_MAX)).lines() {
        let line = line.map_err(|_| wrong("cannot be read"))?;
        let pair: Pair = serde_json::from_str(&line).map_err(|_| wrong("has a line that is not a pair"))?;
        if pair.schema_version != SCHEMA {
            return Err(wrong("is of another version"));
        }
        pairs.push(pair);
        if pairs.len() > PAIRS_MAX {
            return Err(wrong("has too many pairs"));
        }
    }
    Ok(pairs)
}
