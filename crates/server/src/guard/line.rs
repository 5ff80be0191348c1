//! Guard 2: request line and header fields.

use http::request::Parts;
use http::{HeaderMap, StatusCode};
use loom_domain::Code;

use crate::{Problem, RequestLimits};

/// Bytes of `: ` and the line end around a field.
const FIELD_OVERHEAD_BYTES: usize = 4;

pub(super) fn check(parts: &Parts, limits: &RequestLimits) -> Result<(), Problem> {
    if uri_bytes(parts) > limits.uri_bytes_max {
        return Err(Problem::new(Code::TooLarge, format!("the URI is over {} bytes", limits.uri_bytes_max))
            .with_status(StatusCode::URI_TOO_LONG));
    }
    if parts.headers.len() > limits.fields_max || header_bytes(&parts.headers) > limits.header_bytes_max {
        let limit =
            format!("over {} fields or {} bytes of headers", limits.fields_max, limits.header_bytes_max);
        return Err(
            Problem::new(Code::TooLarge, limit).with_status(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)
        );
    }
    Ok(())
}

fn uri_bytes(parts: &Parts) -> usize {
    let authority = parts.uri.authority().map_or(0, |authority| authority.as_str().len());
    authority + parts.uri.path_and_query().map_or(0, |text| text.as_str().len())
}

fn header_bytes(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + FIELD_OVERHEAD_BYTES).sum()
}
