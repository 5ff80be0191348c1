//! The query of a request.

use axum::extract::{FromRequestParts, Query};
use http::request::Parts;
use loom_domain::{Code, Error};
use serde::de::DeserializeOwned;

use crate::Problem;

/// The query of a request. A parameter the route does not know is refused.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = Query::<T>::try_from_uri(&parts.uri).map_err(|rejection| {
            let text = rejection.body_text();
            let why = text.rsplit_once("query string: ").map_or(text.as_str(), |(_, why)| why);
            Error::new(Code::InvalidArgument, format!("query: {why}"))
        })?;
        Ok(Params(query.0))
    }
}
