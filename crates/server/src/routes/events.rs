//! The event stream of the hub.

use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;
use loom_api::query;
use loom_domain::{AgentId, Code, Error};

use super::Routes;
use crate::extract::Params;
use crate::sse::{self, Feed, Filter, Span};
use crate::{AnyReader, App, Problem, Scope};

const LAST_EVENT_ID: &str = "last-event-id";

pub(super) fn add(routes: Routes) -> Routes {
    routes.get(loom_api::routes::EVENTS, Scope::StatusRead, events).get("/events", Scope::StatusRead, events)
}

async fn events(
    who: AnyReader,
    State(app): State<App>,
    headers: HeaderMap,
    Params(query): Params<query::Events>,
) -> Result<Response, Problem> {
    let asked = query.agent.as_deref().map(str::parse::<AgentId>).transpose()?;
    let agent = confined(&who, asked)?;
    let kinds =
        query.types.iter().flat_map(|types| types.split(',')).map(|kind| kind.trim().to_owned()).collect();
    let since = resume_after(&headers)?.or(query.since);
    sse::answer(&app, Feed::new(&app, Filter { kinds, agent }, span(since, query.follow)))
}

fn span(since: Option<u64>, follow: Option<bool>) -> Span {
    match (since, follow) {
        (since, Some(false)) => Span::Stored(since.unwrap_or(0)),
        (Some(since), _) => Span::From(since),
        (None, _) => Span::Live,
    }
}

/// An Agent sees its own events only, whatever it asks for.
fn confined(who: &AnyReader, asked: Option<AgentId>) -> Result<Option<AgentId>, Error> {
    match (who.confined_to(), asked) {
        (Some(own), Some(asked)) if *own != asked => {
            Err(Error::new(Code::Forbidden, "an Agent reads its own events only"))
        }
        (Some(own), _) => Ok(Some(own.clone())),
        (None, asked) => Ok(asked),
    }
}

fn resume_after(headers: &HeaderMap) -> Result<Option<u64>, Error> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let seq = value.to_str().ok().and_then(|text| text.parse().ok());
    seq.map(Some).ok_or_else(|| Error::invalid("Last-Event-ID", "expected the id of an event"))
}
