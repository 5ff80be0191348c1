//! Guards 2 to 4, before routing.

use axum::body::Body;
use axum::response::Response;
use http::request::Parts;
use http::{HeaderValue, StatusCode, header};
use loom_domain::{Code, Error};
use std::net::SocketAddr;

use super::{Names, Origins, line};
use crate::{Cors, ListenConfig, Peer, Problem, token};

/// Seconds for which a browser keeps a preflight's answer.
const MAX_AGE: &str = "600";

/// What the guards before routing need to know.
#[derive(Debug)]
pub(crate) struct Front {
    names: Names,
    origins: Origins,
}

/// A request that may be routed.
#[derive(Debug)]
pub(crate) struct Passed {
    /// A listed origin that the answer names.
    pub(crate) cors: Option<HeaderValue>,
    /// Whether it is a preflight, which is answered here.
    pub(crate) preflight: bool,
}

impl Front {
    /// Derives names and origins from the bound address and the configuration.
    pub(crate) fn new(config: &ListenConfig, bound: Option<SocketAddr>) -> Result<Self, Error> {
        let names = Names::new(config, bound)?;
        let origins = Origins::new(config, &names)?;
        Ok(Front { names, origins })
    }

    /// Runs guards 2, 3 and 4, and refuses tokens in URLs of any route.
    pub(crate) fn check(&self, config: &ListenConfig, parts: &Parts, peer: &Peer) -> Result<Passed, Problem> {
        line::check(parts, &config.requests)?;
        self.names.check(parts, peer)?;
        let origin = self.origins.check(parts)?;
        if parts.uri.path_and_query().is_some_and(|text| token::stands_in(text.as_str())) {
            return Err(Problem::new(Code::TokenInUrl, "tokens travel in the Authorization header only"));
        }
        Ok(Passed { cors: origin.cors, preflight: origin.preflight })
    }
}

impl Passed {
    /// The answer to a preflight of a listed origin.
    pub(crate) fn preflight_answer(&self, cors: Cors) -> Option<Response> {
        self.preflight.then(|| {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NO_CONTENT;
            let told = [
                (header::ACCESS_CONTROL_ALLOW_METHODS, cors.methods),
                (header::ACCESS_CONTROL_ALLOW_HEADERS, cors.headers),
                (header::ACCESS_CONTROL_MAX_AGE, MAX_AGE),
            ];
            for (name, value) in told {
                response.headers_mut().insert(name, HeaderValue::from_static(value));
            }
            response
        })
    }
}
