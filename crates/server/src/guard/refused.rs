//! After the handler: who was refused what becomes an audit row, but not as often as it is tried.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use axum::extract::{MatchedPath, Request};
use axum::response::Response;
use loom_domain::{Code, Principal};
use loom_store::ops::audit_write::RefusedCall;
use tokio::time::Instant;

use crate::{App, Problem};

/// Time in which a principal causes one row for each route. Audit rows stay for ever, so a flood must not make them.
const WINDOW: Duration = Duration::from_hours(1);
/// Principals and routes remembered; beyond it the oldest is forgotten.
const KINDS_MAX: usize = 4_096;

#[derive(Debug, Clone, Copy)]
struct Told {
    at: Instant,
    unrecorded: u64,
}

/// Remembers what was recorded of each principal and route.
#[derive(Debug, Default)]
pub(crate) struct Refused(Mutex<HashMap<(String, String), Told>>);

impl Refused {
    /// Counts a refusal. When a row is due, gives the number of those since the last row.
    fn due(&self, who: &str, call: &str, now: Instant) -> Option<u64> {
        let mut kinds = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let kind = (who.to_owned(), call.to_owned());
        if let Some(told) = kinds.get_mut(&kind).filter(|told| now.duration_since(told.at) < WINDOW) {
            told.unrecorded += 1;
            return None;
        }
        if kinds.len() >= KINDS_MAX && !kinds.contains_key(&kind) {
            let oldest = kinds.iter().min_by_key(|(_, told)| told.at).map(|(kind, _)| kind.clone());
            oldest.and_then(|oldest| kinds.remove(&oldest));
        }
        Some(kinds.insert(kind, Told { at: now, unrecorded: 0 }).map_or(0, |told| told.unrecorded))
    }
}

/// The code of an answer that refuses its caller for who it is.
pub(super) fn refusal(answer: &Response) -> Option<Code> {
    let code = answer.extensions().get::<Problem>().map(Problem::code);
    code.filter(|code| matches!(code, Code::Forbidden | Code::NotOwnerOfItem))
}

/// What was asked for, kept while the request is answered.
pub(super) struct Asked {
    method: String,
    route: String,
    path: String,
}

impl Asked {
    pub(super) fn of(request: &Request) -> Self {
        let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
        Asked {
            method: request.method().to_string(),
            route: route.to_owned(),
            path: request.uri().path().to_owned(),
        }
    }

    /// Records that the caller was refused, before it is told.
    pub(super) async fn record(self, app: &App, who: Principal, code: Code) {
        let call = format!("{} {}", self.method, self.route);
        let Some(unrecorded) = app.refused().due(&who.to_string(), &call, Instant::now()) else { return };
        let Asked { method, route, path } = self;
        let call = RefusedCall { method, route, path, code, unrecorded };
        if let Err(error) = app.desk().record_refused_call(who, call).await {
            tracing::warn!(code = %error.code, "a refused call could not be recorded");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn msg_038_a_flood_of_refusals_makes_one_row_an_hour() {
        let refused = Refused::default();
        let due = |who: &str, call: &str| refused.due(who, call, Instant::now());
        assert_eq!(due("viewer", "PATCH /a"), Some(0));
        assert!((0..5_000).all(|_| due("viewer", "PATCH /a").is_none()));
        assert_eq!((due("viewer", "PATCH /b"), due("agent:a", "PATCH /a")), (Some(0), Some(0)));
        tokio::time::advance(WINDOW).await;
        assert_eq!(due("viewer", "PATCH /a"), Some(5_000));
        assert_eq!(due("viewer", "PATCH /a"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn msg_038_the_memory_of_refusals_is_bounded() {
        let refused = Refused::default();
        for n in 0..KINDS_MAX + 10 {
            assert_eq!(refused.due(&n.to_string(), "GET /a", Instant::now()), Some(0));
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        assert_eq!(refused.0.lock().unwrap().len(), KINDS_MAX);
        let newest = (KINDS_MAX + 9).to_string();
        assert_eq!(refused.due(&newest, "GET /a", Instant::now()), None);
    }
}
