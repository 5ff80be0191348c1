//! The one form of an error answer: problem+json with the members of the error object.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use loom_domain::{Code, Error};
use serde_json::{Map, Value};

const CONTENT_TYPE: HeaderValue = HeaderValue::from_static("application/problem+json");

/// An error on its way out. The outermost layer writes it, so that each answer carries its request id.
#[derive(Debug, Clone)]
pub struct Problem {
    error: Error,
    status: StatusCode,
}

impl Problem {
    /// Makes a problem of a code with its own status.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Error::new(code, message).into()
    }

    /// What went wrong.
    pub(crate) fn code(&self) -> Code {
        self.error.code
    }

    /// Replaces the status where HTTP has a more exact one for the same meaning.
    pub(crate) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Says how long to wait.
    pub(crate) fn with_retry_after_ms(mut self, ms: u64) -> Self {
        self.error.retry_after_ms = Some(ms);
        self
    }

    /// Writes the answer. A defect shows nothing but the request id; its cause goes to the log.
    pub(crate) fn render(mut self, request_id: &str) -> Response {
        if self.error.code == Code::Internal {
            tracing::error!(request.id = request_id, cause = %self.error.message, "a request failed on a defect");
            self.error = Error::new(Code::Internal, "internal error");
        }
        self.error.request_id = Some(request_id.to_owned());
        let retry_after_ms = self.error.retry_after_ms;
        let mut response = Response::new(Body::from(document(&self.error, self.status).to_string()));
        *response.status_mut() = self.status;
        response.headers_mut().insert(header::CONTENT_TYPE, CONTENT_TYPE);
        if let Some(ms) = retry_after_ms {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(ms.div_ceil(1000).max(1)));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

fn document(error: &Error, status: StatusCode) -> Value {
    let mut members = match serde_json::to_value(error) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    };
    members.insert("type".into(), format!("urn:loom:error:{}", error.code).into());
    members.insert("title".into(), error.code.about().into());
    members.insert("status".into(), status.as_u16().into());
    Value::Object(members)
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let status = StatusCode::from_u16(error.code.http()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Problem { error, status }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}
