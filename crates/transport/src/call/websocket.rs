//! Opening a websocket as a call of one attempt.

use http::HeaderMap;
use loom_domain::{Code, Error, Result};

use super::attempt::Limits;
use super::record::Record;
use super::{Call, Failure, Reading};
use crate::backend::Prepared;
use crate::request::Spec;
use crate::transport::Transport;
use crate::websocket::{WebSocket, handshake};

/// A websocket that is being opened.
#[derive(Debug)]
pub(crate) struct Opening {
    call: Call,
}

impl Opening {
    pub(crate) fn begin(transport: Transport, spec: Spec) -> Result<Self> {
        Ok(Opening { call: Call::begin(transport, spec)? })
    }

    pub(crate) async fn run(mut self) -> Result<WebSocket> {
        let call = &mut self.call;
        let target = call.core().policy.check_url(&call.url, &call.spec.hosts).map_err(|e| call.finish(e))?;
        let lane = call.lane_of(&target);
        let core = call.core();
        let permit = core.limiter.acquire(&lane, call.deadline).await;
        let permit = permit.map_err(|e| call.finish(e))?;
        call.attempts = 1;
        let mut record = Record::start(call, &target, permit.waited);
        let limits = call.limits(Reading::Whole);
        let outcome = match call.prepare(&target, limits).await {
            Ok(prepared) => open(call, prepared, limits).await,
            Err(failure) => Err(failure),
        };
        match outcome {
            Ok(websocket) => {
                record.switched();
                Ok(websocket)
            }
            Err(failure) => {
                record.failed(&failure);
                Err(call.refusal(failure))
            }
        }
    }
}

async fn open(call: &Call, prepared: Prepared, limits: Limits) -> Result<WebSocket, Failure> {
    let dialled = call.core().dialer.dial(&prepared.destination, prepared.connect_timeout).await;
    let (socket, _) = dialled.map_err(|fault| Failure::Fault(fault, None))?;
    let mut headers: HeaderMap = prepared.headers;
    headers.remove(http::header::ACCEPT_ENCODING);
    headers.remove(http::header::ACCEPT);
    handshake(socket, &prepared.url, headers, limits.read)
        .await
        .map_err(|(fault, status)| Failure::Fault(fault, status))
}

impl Call {
    fn refusal(&self, failure: Failure) -> Error {
        if let Failure::Fault(_, Some(status)) = failure {
            let code = match status {
                401 | 403 => Code::ProviderAuthError,
                429 => Code::ProviderRateLimited,
                300..=399 => Code::ProviderRedirectRefused,
                _ => Code::ProviderHttpError,
            };
            let mut error =
                Error::new(code, format!("the host answered the websocket handshake with {status}"));
            error.http_status = Some(status);
            return self.finish(error.with_detail("phase", "receive"));
        }
        match self.settle(Err(failure)) {
            Err(error) => error,
            Ok(_) => self.finish(Error::internal("a failure settled as an answer")),
        }
    }
}
