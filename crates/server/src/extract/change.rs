//! What stands around the document of a change: dry run, version, and how long to wait.

use std::time::Duration;

use axum::extract::FromRequestParts;
use http::header::IF_MATCH;
use http::request::Parts;
use http::{HeaderMap, HeaderName};
use loom_domain::{Code, Error, Principal};
use serde::Deserialize;

use super::Params;
use crate::Problem;
use crate::desk::Intent;

const PREFER: HeaderName = HeaderName::from_static("prefer");
/// Longest wait for the end of a send.
const WAIT_SECONDS_MAX: u64 = 60;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Query {
    dry_run: bool,
}

/// How a change is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// Whether only the plan is wanted.
    dry_run: bool,
    if_match: Option<u64>,
}

impl Change {
    /// The change as that principal means it.
    pub(crate) fn intent(&self, principal: Principal) -> Intent {
        Intent { principal, dry_run: self.dry_run }
    }

    /// The version the change is based on, from the document or from `If-Match`.
    pub(crate) fn version(&self, in_document: Option<u64>) -> Result<Option<u64>, Error> {
        match (self.if_match, in_document) {
            (Some(header), Some(document)) if header != document => {
                Err(Error::new(Code::MutuallyExclusive, "If-Match and expectedVersion differ"))
            }
            (header, document) => Ok(document.or(header)),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Change {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Params(query) = Params::<Query>::from_request_parts(parts, state).await?;
        Ok(Change { dry_run: query.dry_run, if_match: if_match(&parts.headers)? })
    }
}

fn if_match(headers: &HeaderMap) -> Result<Option<u64>, Error> {
    let Some(value) = headers.get(IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    let digits = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let version = digits.and_then(|digits| digits.parse().ok());
    version.map(Some).ok_or_else(|| Error::invalid("If-Match", "expected one version such as \"7\""))
}

/// How long the caller wants to wait for the end of a send (`Prefer: wait=N`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wait(pub(crate) Duration);

impl<S: Sync> FromRequestParts<S> for Wait {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let texts = parts.headers.get_all(PREFER).iter().filter_map(|value| value.to_str().ok());
        let wait =
            texts.flat_map(|text| text.split(',')).find_map(|entry| entry.trim().strip_prefix("wait="));
        let seconds = match wait {
            Some(text) => text.parse().map_err(|_| Error::invalid("Prefer", "expected wait=SECONDS"))?,
            None => 0,
        };
        Ok(Wait(Duration::from_secs(seconds.min(WAIT_SECONDS_MAX))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    async fn extract<T: FromRequestParts<(), Rejection = Problem>>(
        uri: &str,
        header: &str,
        value: &str,
    ) -> Option<T> {
        let request = Request::builder().uri(uri).header(header, value).body(()).unwrap();
        T::from_request_parts(&mut request.into_parts().0, &()).await.ok()
    }

    #[tokio::test]
    async fn dry_run_and_version() {
        let change: Change = extract("/x?dryRun=true", "if-match", "\"7\"").await.unwrap();
        assert!(change.dry_run);
        assert_eq!(change.version(None).unwrap(), Some(7));
        assert_eq!(change.version(Some(7)).unwrap(), Some(7));
        assert_eq!(change.version(Some(8)).unwrap_err().code, Code::MutuallyExclusive);
        for (uri, value) in [
            ("/x?dryRun=maybe", "\"7\""),
            ("/x?dry=true", "\"7\""),
            ("/x", "7"),
            ("/x", "*"),
            ("/x", "W/\"7\""),
        ] {
            assert!(extract::<Change>(uri, "if-match", value).await.is_none(), "{uri} {value}");
        }
    }

    #[tokio::test]
    async fn waits_are_bounded() {
        let wait = |value: &'static str| extract::<Wait>("/x", "prefer", value);
        assert_eq!(wait("respond-async, wait=5").await, Some(Wait(Duration::from_secs(5))));
        assert_eq!(wait("wait=600").await, Some(Wait(Duration::from_mins(1))));
        assert_eq!(wait("respond-async").await, Some(Wait(Duration::ZERO)));
        assert_eq!(wait("wait=soon").await, None);
    }
}
