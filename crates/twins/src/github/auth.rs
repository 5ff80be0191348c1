//! Who asks.

use super::reply::{self, Reply};
use super::world::World;
use crate::front::Call;

/// The credential of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Caller {
    /// No `Authorization` header.
    Anonymous,
    /// A token of the twin.
    Known {
        /// Login of the token.
        login: String,
    },
    /// A token nobody gave out.
    Unknown,
}

impl Caller {
    pub(super) fn of(call: &Call, world: &World) -> Self {
        match token(call) {
            None if call.header("authorization").is_none() => Self::Anonymous,
            token => match token.and_then(|token| world.tokens.get(token)) {
                Some(login) => Self::Known { login: login.clone() },
                None => Self::Unknown,
            },
        }
    }

    pub(super) fn login(&self) -> Option<&str> {
        match self {
            Self::Known { login } => Some(login),
            Self::Anonymous | Self::Unknown => None,
        }
    }

    /// Whom a limit is about, in the words of its message.
    pub(super) fn described(&self) -> String {
        match self.login() {
            Some(login) => format!("user ID {}", super::world::account(login).id),
            None => "127.0.0.1. (But here's the good news: Authenticated requests get a higher rate limit.)"
                .into(),
        }
    }
}

/// The token of a request: `Bearer` or `token`, as the reference allows.
pub(super) fn token(call: &Call) -> Option<&str> {
    let value = call.header("authorization")?;
    let (scheme, token) = value.split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer") || scheme.eq_ignore_ascii_case("token")).then_some(token.trim())
}

/// What every request needs: a `User-Agent`, a version that exists, a good token or none
/// («Getting started with the REST API», «API Versions», «Authenticating to the REST API»).
pub(super) fn check(call: &Call, caller: &Caller) -> Result<(), Reply> {
    if call.header("user-agent").is_none_or(str::is_empty) {
        let message = "Request forbidden by administrative rules. Please make sure your request has a User-Agent header";
        return Err(Reply::refuse(403, message, "rest/using-the-rest-api/getting-started-with-the-rest-api"));
    }
    if call.header("x-github-api-version").is_some_and(|version| version != super::serve::API_VERSION) {
        let message = "The version you specified is not supported";
        return Err(Reply::refuse(400, message, "rest/about-the-rest-api/api-versions"));
    }
    if *caller == Caller::Unknown { Err(reply::bad_credentials()) } else { Ok(()) }
}
