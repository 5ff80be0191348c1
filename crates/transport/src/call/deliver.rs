//! From the head of an answer to its body: read to the end here, or handed out as it comes.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, BoxStream, StreamExt};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use loom_domain::{Error, Result};
use tokio::time::Instant;

use super::record::Record;
use super::{Call, Failure, Opened, Reading};
use crate::backend::{HEAD_BYTES_MAX, HEADERS_MAX, RawResponse};
use crate::decode::Decoder;
use crate::fault::{FaultKind, NetworkFault, Phase, Written, stamp};
use crate::limiter::Permit;
use crate::response::{RateState, Response};
use crate::stream::ByteStream;

/// A body on its way through the decoder.
struct Incoming {
    body: BoxStream<'static, Result<Bytes, NetworkFault>>,
    decoder: Decoder,
    until: Instant,
    ready: VecDeque<Bytes>,
    done: bool,
}

impl Incoming {
    async fn next(&mut self) -> Result<Option<Bytes>, NetworkFault> {
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                return Ok(Some(bytes));
            }
            if self.done {
                return Ok(None);
            }
            let received = tokio::time::timeout_at(self.until, self.body.next()).await;
            let received = received.map_err(|_| NetworkFault::timeout(Phase::Total))?;
            let decoded = if let Some(bytes) = received {
                self.decoder.push(&bytes?)?
            } else {
                self.done = true;
                self.decoder.finish()?
            };
            if !decoded.is_empty() {
                self.ready.push_back(decoded);
            }
        }
    }
}

impl Call {
    pub(super) async fn deliver(
        &self,
        reading: Reading,
        raw: RawResponse,
        until: Instant,
        permit: Permit,
        record: &mut Record,
    ) -> Result<Opened, Failure> {
        let status = raw.status;
        let faulty = |fault| Failure::Fault(fault, Some(status));
        check_head(&raw.headers).map_err(faulty)?;
        let coding = raw.headers.get(CONTENT_ENCODING).and_then(|v| v.to_str().ok());
        let decoder = Decoder::new(coding, self.spec.bytes_max).map_err(faulty)?;
        let incoming = Incoming { body: raw.body, decoder, until, ready: VecDeque::new(), done: false };
        if reading == Reading::AsItComes && (200..300).contains(&status) {
            return Ok(Opened::Stream(Box::new(self.hand_out(
                status,
                raw.headers,
                incoming,
                permit,
                record.take(),
            ))));
        }
        let body = self.read(incoming, record).await.map_err(faulty)?;
        record.ended();
        let meta = self.meta(RateState::read(&raw.headers));
        Ok(Opened::Whole(Box::new(Response::new(status, raw.headers, body, meta))))
    }

    async fn read(&self, mut incoming: Incoming, record: &mut Record) -> Result<Bytes, NetworkFault> {
        let mut all = BytesMut::new();
        while let Some(bytes) = incoming.next().await? {
            record.received(bytes.len());
            all.extend_from_slice(&bytes);
        }
        Ok(all.freeze())
    }

    fn hand_out(
        &self,
        status: u16,
        headers: HeaderMap,
        incoming: Incoming,
        permit: Permit,
        record: Record,
    ) -> ByteStream {
        let meta = self.meta(RateState::read(&headers));
        let template = self.finish(Error::internal("no cause"));
        let state = Some((incoming, permit, record));
        let body = stream::unfold(state, move |state| {
            let template = template.clone();
            async move {
                let (mut incoming, permit, mut record) = state?;
                match incoming.next().await {
                    Ok(Some(bytes)) => {
                        record.received(bytes.len());
                        Some((Ok(bytes), Some((incoming, permit, record))))
                    }
                    Ok(None) => {
                        record.ended();
                        None
                    }
                    Err(fault) => {
                        record.failed(&Failure::Fault(fault.clone(), Some(status)));
                        Some((Err(of_stream(fault, status, template)), None))
                    }
                }
            }
        });
        ByteStream { status, headers, meta, body: body.boxed() }
    }
}

/// The error of a body that broke while it was handed out, with the ids of its call.
fn of_stream(fault: NetworkFault, status: u16, template: Error) -> Error {
    let mut error = fault.into_error();
    error.http_status = Some(status);
    error.request_id = template.request_id;
    error.provider = template.provider;
    error.operation = template.operation;
    error.attempts = template.attempts;
    stamp(error, Written::Maybe)
}

fn check_head(headers: &HeaderMap) -> Result<(), NetworkFault> {
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if headers.len() > HEADERS_MAX || bytes > HEAD_BYTES_MAX {
        return Err(NetworkFault::receive(FaultKind::TooLarge, "the head of the answer is too large"));
    }
    Ok(())
}
