//! The JSON document of a request.

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use loom_domain::{Code, Error};
use serde::de::DeserializeOwned;

use crate::Problem;

/// The JSON document of a request; guard 9 has checked its form. No body reads as `{}`.
pub(crate) struct Doc<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for Doc<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        // The gate has bounded and buffered the body.
        let bytes = to_bytes(request.into_body(), usize::MAX).await.map_err(Error::internal)?;
        let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        serde_json::from_slice(text).map(Doc).map_err(|error| unreadable(&error).into())
    }
}

/// Turns serde's text into one code, without quoting values of the document.
fn unreadable(error: &serde_json::Error) -> Error {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    if text.starts_with("unknown field") {
        return Error::new(Code::UnknownField, text);
    }
    if text.starts_with("missing field") {
        return Error::new(Code::MissingField, text);
    }
    let expected =
        text.find("expected").and_then(|at| text.get(at..)).unwrap_or("a value has the wrong form");
    Error::new(Code::InvalidArgument, expected)
        .with_detail("line", error.line())
        .with_detail("column", error.column())
}

#[cfg(test)]
mod tests {
    use super::*;
    use loom_api::request::{Reply, Send};

    fn code_of<T: DeserializeOwned>(text: &str) -> (Code, String) {
        let error = unreadable(&serde_json::from_str::<T>(text).err().expect("the document is refused"));
        (error.code, error.message)
    }

    #[test]
    fn documents_are_refused_without_quoting_their_values() {
        assert_eq!(code_of::<Send>(r#"{"colour":1}"#).0, Code::UnknownField);
        assert_eq!(code_of::<loom_api::request::ThreadInput>("{}").0, Code::MissingField);
        let (code, text) = code_of::<Reply>(r#"{"fromAnswer":"hunter2"}"#);
        assert_eq!(code, Code::InvalidArgument);
        assert!(text.contains("boolean") && !text.contains("hunter2"), "{text}");
        let (code, text) = code_of::<Send>(r#"{"expectReply":"hunter2"}"#);
        assert_eq!(code, Code::InvalidArgument);
        assert!(!text.contains("hunter2"), "{text}");
    }
}
