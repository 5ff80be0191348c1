//! The bytes of an upload.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use loom_domain::{Code, Error};
use tokio::time::Instant;

use crate::{Problem, RequestLimits};

/// Limits of an upload, put into the request by guard 9.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UploadLimits {
    bytes_max: usize,
    grace: Duration,
    bytes_per_s_min: u64,
}

impl From<&RequestLimits> for UploadLimits {
    fn from(limits: &RequestLimits) -> Self {
        UploadLimits {
            bytes_max: limits.artifact_bytes_max,
            grace: limits.body_read,
            bytes_per_s_min: limits.upload_bytes_per_s_min.max(1),
        }
    }
}

/// The bytes of an upload, taken chunk by chunk with a limit on size and slowness.
pub(crate) struct Upload {
    body: Body,
    limits: UploadLimits,
    started: Instant,
    received: usize,
}

impl<S: Sync> FromRequest<S> for Upload {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let limits = request.extensions().get::<UploadLimits>().copied();
        let limits = limits.ok_or_else(|| Error::internal("an upload outside of its gate"))?;
        Ok(Upload { body: request.into_body(), limits, started: Instant::now(), received: 0 })
    }
}

impl Upload {
    /// The next chunk, or `None` at the end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let earned = u64::try_from(self.received).unwrap_or(u64::MAX) / self.limits.bytes_per_s_min;
        let deadline = self.started + self.limits.grace + Duration::from_secs(earned);
        let frame = tokio::time::timeout_at(deadline, self.body.frame()).await;
        let frame = frame.map_err(|_| Error::new(Code::RequestTimeout, "the upload is too slow"))?;
        let Some(frame) = frame else { return Ok(None) };
        let frame = frame.map_err(|_| Error::new(Code::Usage, "the upload broke off"))?;
        let data = frame.into_data().unwrap_or_default();
        self.received = self.received.saturating_add(data.len());
        if self.received > self.limits.bytes_max {
            let limit = self.limits.bytes_max;
            return Err(Error::new(Code::TooLarge, format!("the file is over {limit} bytes")));
        }
        Ok(Some(data))
    }
}
