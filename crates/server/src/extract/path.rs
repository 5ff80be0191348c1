//! Ids and names of the path.

use std::str::FromStr;

use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;
use loom_domain::{Code, Error};

use crate::Problem;

/// Bytes of a path parameter.
const TEXT_BYTES_MAX: usize = 512;

/// The first parameter of the path, an id.
pub(crate) struct Id<T>(pub(crate) T);

impl<T: FromStr<Err = Error>, S: Send + Sync> FromRequestParts<S> for Id<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        Ok(Id(path_text(parts, state, 0).await?.parse()?))
    }
}

/// The second parameter of the path, an id.
pub(crate) struct SecondId<T>(pub(crate) T);

impl<T: FromStr<Err = Error>, S: Send + Sync> FromRequestParts<S> for SecondId<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        Ok(SecondId(path_text(parts, state, 1).await?.parse()?))
    }
}

/// The first parameter of the path as text: a name, or an id of one of several kinds.
pub(crate) struct Name(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        Ok(Name(path_text(parts, state, 0).await?))
    }
}

/// The second parameter of the path as text, such as a provider's id.
pub(crate) struct SecondName(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for SecondName {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        Ok(SecondName(path_text(parts, state, 1).await?))
    }
}

async fn path_text<S: Send + Sync>(parts: &mut Parts, state: &S, place: usize) -> Result<String, Problem> {
    let params = RawPathParams::from_request_parts(parts, state).await;
    let params = params.map_err(|_| Error::new(Code::InvalidId, "the path is not UTF-8"))?;
    let text = params.iter().nth(place).map(|(_, text)| text.to_owned());
    let text = text.ok_or_else(|| Error::internal("a route without its path parameter"))?;
    let fits = !text.is_empty() && text.len() <= TEXT_BYTES_MAX && !text.contains(char::is_control);
    if fits { Ok(text) } else { Err(Problem::new(Code::InvalidId, "the path holds no id or name")) }
}
