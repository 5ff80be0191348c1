//! How an attempt ended, and the error that tells it.

use std::time::Duration;

use loom_domain::{Code, Error, Result};

use super::{Call, Failure, Opened, millis};
use crate::fault::{FaultKind, Written};
use crate::response::Response;
use crate::retry::{self, Ending, Repeat};

impl Call {
    /// How the attempt ended; a throttle counts as a 429 whatever its status.
    pub(super) fn ending(&self, outcome: &Result<Opened, Failure>) -> Ending {
        match outcome {
            Ok(Opened::Whole(response)) => match self.throttle(response.status, &response.headers) {
                Some(_) => Ending::Status(429),
                None => Ending::Status(response.status),
            },
            Ok(Opened::Stream(stream)) => Ending::Status(stream.status),
            Err(Failure::Refused(_)) => Ending::Fatal,
            Err(Failure::Fault(fault, _)) => match fault.kind {
                FaultKind::TooLarge | FaultKind::Protocol | FaultKind::Body => Ending::Fatal,
                FaultKind::Network | FaultKind::Timeout if fault.written == Written::No => Ending::Unsent,
                FaultKind::Network | FaultKind::Timeout => Ending::NoAnswer,
            },
        }
    }
}

impl Call {
    pub(super) fn settle(&self, outcome: Result<Opened, Failure>) -> Result<Opened> {
        match outcome {
            Ok(opened) => Ok(opened),
            Err(Failure::Refused(error)) => Err(self.finish(error)),
            Err(Failure::Fault(fault, status)) => {
                let mut error = fault.into_error();
                error.http_status = status;
                Err(self.finish(error))
            }
        }
    }

    /// The end of a write that was sent and not answered.
    pub(super) fn unknown(&self, outcome: Result<Opened, Failure>) -> Error {
        let mut error = Error::new(Code::OutcomeUnknown, "the write was sent and no answer came");
        if let Err(Failure::Fault(fault, status)) = outcome {
            error =
                error.with_detail("phase", fault.phase.as_str()).with_detail("cause", fault.code().as_str());
            error.http_status = status;
        }
        self.finish(error)
    }

    /// The error of an answer that is not 2xx.
    pub(crate) fn status_error(&self, response: &Response) -> Error {
        let status = response.status;
        let asked = self.asked_wait(response);
        let is_throttle = self.throttle(status, &response.headers).is_some();
        let too_long = asked.is_some_and(|wait| self.is_too_long(wait)) && retry::is_passing(status);
        let mut error = match status {
            _ if is_throttle || too_long => throttled(asked),
            401 => Error::new(Code::ProviderAuthError, "the provider refused the credential"),
            300..=303 | 305..=399 => {
                Error::new(Code::ProviderRedirectRefused, format!("the provider redirects with {status}"))
            }
            _ => self.http_error(status),
        };
        error.http_status = Some(status);
        self.finish(error.with_detail("phase", "receive"))
    }

    fn is_too_long(&self, wait: Duration) -> bool {
        wait > retry::RETRY_AFTER_MAX
            || wait > self.deadline.saturating_duration_since(tokio::time::Instant::now())
    }

    fn http_error(&self, status: u16) -> Error {
        let mut error = Error::new(Code::ProviderHttpError, format!("the provider answered {status}"));
        error.retryable = retry::is_passing(status) && self.repeat == Repeat::Safe;
        error.with_detail("kind", kind_of(status))
    }
}

fn throttled(wait: Option<Duration>) -> Error {
    let mut error = Error::new(Code::ProviderRateLimited, "the provider asks to wait");
    error.retry_after_ms = wait.map(millis);
    error
}

const fn kind_of(status: u16) -> &'static str {
    match status {
        400 => "bad_request",
        403 => "permission",
        404 => "not_found",
        409 => "conflict",
        410 => "gone",
        422 => "validation",
        451 => "legal",
        500.. => "server",
        _ => "client_other",
    }
}
