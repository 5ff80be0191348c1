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

/// Topics and how the types of their events begin.
const TOPICS: [(&str, &str); 6] = [
    ("connections", "connection."),
    ("outbox", "outbox."),
    ("turns", "turn."),
    ("connectors", "connector."),
    ("gates", "gate."),
    ("updates", "update."),
];
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
    let asked = match query.agent.clone() {
        Some(agent) => Some(agent_of(&app, agent).await?),
        None => None,
    };
    stream(&app, confined(&who, asked)?, &headers, &query)
}

/// Answers with the stream of one Agent's events, or of all.
pub(super) fn stream(
    app: &App,
    agent: Option<AgentId>,
    headers: &HeaderMap,
    query: &query::Events,
) -> Result<Response, Problem> {
    let kinds =
        query.types.iter().flat_map(|types| types.split(',')).map(|kind| kind.trim().to_owned()).collect();
    let topics = query.topics.as_deref().map(topics_of).transpose()?.unwrap_or_default();
    let since = resume_after(headers)?.or(query.since);
    sse::answer(app, Feed::new(app, Filter { kinds, topics, agent }, span(since, query.follow)))
}

/// Beginnings of the types that belong to topics.
fn topics_of(text: &str) -> Result<Vec<String>, Error> {
    let begin = |word: &str| {
        let (_, begin) = TOPICS.iter().find(|(topic, _)| *topic == word)?;
        Some((*begin).to_owned())
    };
    let known = TOPICS.map(|(topic, _)| topic).join(", ");
    let all: Option<Vec<String>> = text.split(',').map(|word| begin(word.trim())).collect();
    all.ok_or_else(|| Error::invalid("topics", format!("expected some of {known}")))
}

fn span(since: Option<u64>, follow: Option<bool>) -> Span {
    match (since, follow) {
        (since, Some(false)) => Span::Stored(since.unwrap_or(0)),
        (Some(since), _) => Span::From(since),
        (None, _) => Span::Live,
    }
}

/// Reads an id as it stands; a name is looked up.
pub(super) async fn agent_of(app: &App, agent: String) -> Result<AgentId, Error> {
    match agent.parse() {
        Ok(id) => Ok(id),
        Err(_) => app.desk().agent_id(agent).await,
    }
}

/// An Agent sees its own events only, whatever it asks for.
pub(super) fn confined(who: &AnyReader, asked: Option<AgentId>) -> Result<Option<AgentId>, Error> {
    match (who.confined_to(), asked) {
        (Some(own), Some(asked)) if *own != asked => {
            Err(Error::new(Code::Forbidden, "an Agent reads its own events only"))
        }
        (Some(own), _) => Ok(Some(own.clone())),
        (None, asked) => Ok(asked),
    }
}

/// The event that a reader has seen last.
pub(super) fn resume_after(headers: &HeaderMap) -> Result<Option<u64>, Error> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let seq = value.to_str().ok().and_then(|text| text.parse().ok());
    seq.map(Some).ok_or_else(|| Error::invalid("Last-Event-ID", "expected the id of an event"))
}
