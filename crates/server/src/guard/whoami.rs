//! Guard 6: who calls. Rights come from the stored record only, never from the request.

use http::{HeaderMap, header};
use loom_domain::{Code, Principal};
use tokio::time::Instant;

use super::forwarded;
use crate::token::{Presented, StoredToken};
use crate::{App, Peer, Problem, Scopes, SocketAuth};

/// A caller whose identity is proven, and what its token covers.
pub(super) struct Caller {
    pub(super) principal: Principal,
    pub(super) scopes: Scopes,
}

pub(super) async fn authenticate(app: &App, peer: &Peer, headers: &HeaderMap) -> Result<Caller, Problem> {
    let Some(text) = bearer(headers)? else { return by_peer(app, peer) };
    let client = forwarded::peer_of(app.config(), headers, peer).to_string();
    if let Some(left) = app.throttle().pause_left(&client, Instant::now()) {
        let ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        return Err(Problem::new(Code::RateLimited, "too many refused credentials").with_retry_after_ms(ms));
    }
    let Some(stored) = admitted(app, text).await? else {
        app.throttle().failed(&client, Instant::now());
        return Err(Problem::new(Code::Unauthenticated, "the token is not valid"));
    };
    Ok(Caller { principal: stored.principal, scopes: stored.scopes })
}

fn by_peer(app: &App, peer: &Peer) -> Result<Caller, Problem> {
    match peer {
        Peer::Socket { runtime_child: false, .. } if app.config().socket_auth == SocketAuth::Peer => {
            Ok(Caller { principal: Principal::Owner, scopes: Scopes::All })
        }
        _ => Err(Problem::new(Code::Unauthenticated, "no token was presented")),
    }
}

async fn admitted(app: &App, text: &str) -> Result<Option<StoredToken>, Problem> {
    let Some(presented) = Presented::parse(text) else { return Ok(None) };
    let stored = app.doors().tokens.lookup(&presented.id).await?;
    Ok(stored.filter(|stored| presented.admitted_by(stored, app.now())))
}

/// The text after `Bearer`; a doubled or foreign Authorization header is not a lack of one.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let wrong =
        || Problem::new(Code::Unauthenticated, "expected one Authorization header with a bearer token");
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (first, second) = (values.next(), values.next());
    let Some(value) = first else { return Ok(None) };
    if second.is_some() {
        return Err(wrong());
    }
    let (scheme, token) = value.to_str().ok().and_then(|text| text.split_once(' ')).ok_or_else(wrong)?;
    if scheme.eq_ignore_ascii_case("bearer") { Ok(Some(token.trim())) } else { Err(wrong()) }
}
