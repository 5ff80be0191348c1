//! Answers, Notices and audit of a hub.

use std::time::Duration;

use async_trait::async_trait;
use loom_api::{Mutation, Page, query, request, view};
use loom_domain::text::prefix;
use loom_domain::time::parse_duration_ms;
use loom_domain::{Code, Error, Notice, NoticeId, Principal, Timestamp};
use loom_store::ops::audit_write::RefusedCall;
use serde_json::Value;

use super::HubDesk;
use super::draft::draft_of;
use crate::desk::{Answers, Duty, Intent};

/// What an audit row keeps of the path of a refused call.
const PATH_BYTES_MAX: usize = 256;

#[async_trait]
impl Answers for HubDesk {
    async fn where_is(&self, who: Principal, query: query::Where) -> Result<view::Where, Error> {
        let q = query.q.ok_or_else(|| Error::new(Code::MissingField, "q: give an id or a link"))?;
        let found = self.hub.store().where_is(who, q).await;
        found.map_err(|error| self.with_health(error))
    }
    async fn explain_policy(
        &self,
        who: Principal,
        mut question: request::PolicyExplain,
    ) -> Result<view::PolicyExplanation, Error> {
        if let (Principal::Agent(_), Some(id)) = (&who, &question.id) {
            self.hub.store().inbox_detail(who.clone(), id.clone()).await?;
        }
        if let Some(address) = &question.address {
            let address = self.hub.store().address(address.parse()?).await?;
            super::records::sees(&who, &address.agent_id)?;
        }
        let draft = draft_of(question.draft.take())?;
        self.hub.store().explain(question, draft, self.hub.now()).await
    }
    async fn replay_policy(
        &self,
        _: Principal,
        question: request::PolicyReplay,
    ) -> Result<view::PolicyReplayResult, Error> {
        let agent = match question.agent {
            Some(agent) => Some(self.hub.store().agent_by(agent).await?.id),
            None => None,
        };
        let since = since(self.hub.now(), &question.since)?;
        self.hub.store().replay_policy(since, agent, draft_of(Some(question.draft))?).await
    }
    async fn status(&self, _: Principal) -> Result<view::HubStatus, Error> {
        self.hub.status(self.listens(), self.started_at).await
    }
}

impl HubDesk {
    /// Adds how each Connection does that a `never_seen` names.
    fn with_health(&self, mut error: Error) -> Error {
        let told = error.detail.get_mut("connections").and_then(Value::as_array_mut);
        for entry in told.into_iter().flatten().filter_map(Value::as_object_mut) {
            let id = entry.get("id").and_then(Value::as_str).and_then(|id| id.parse().ok());
            if let Some(id) = id {
                let health = self.hub.connection_health(&id);
                entry.insert("state".to_owned(), health.state.as_str().into());
                entry.insert("reason".to_owned(), health.reason.as_str().into());
            }
        }
        error
    }
}

fn since(now: Timestamp, text: &str) -> Result<Timestamp, Error> {
    text.parse().or_else(|_| Ok(now.plus_ms(-parse_duration_ms(text)?)))
}

#[async_trait]
impl Duty for HubDesk {
    async fn stop_hub(&self, _: Principal, request: request::Stop) -> Result<view::Accepted, Error> {
        self.hub.request_stop(request.drain_seconds.map(Duration::from_secs));
        Ok(view::Accepted { accepted: true })
    }
    async fn notices(&self, _: Principal, query: query::Notices) -> Result<Page<Notice>, Error> {
        self.hub.store().list_notices(query).await
    }
    async fn ack_notice(&self, intent: Intent, id: NoticeId) -> Result<Mutation<Notice>, Error> {
        let notice = self.hub.store().ack_notice(self.real(intent)?, id).await?;
        Ok(Mutation::changed(notice, vec!["ackedAt".to_owned()]))
    }
    async fn audit(&self, _: Principal, query: query::Audit) -> Result<Page<view::AuditRow>, Error> {
        let after = match &query.cursor {
            Some(cursor) => cursor
                .parse()
                .map_err(|_| Error::new(Code::CursorExpired, "the cursor is not one of this list"))?,
            None => query.since.unwrap_or(0),
        };
        self.hub.store().audit_rows(None, after, query.limit).await
    }
    async fn record_refused_call(&self, who: Principal, call: RefusedCall) -> Result<(), Error> {
        // The caller wrote the path, so it is redacted and cut like any text from outside.
        let path = self.hub.stored_text(&call.path);
        let path = prefix(&path, PATH_BYTES_MAX).to_owned();
        self.hub.store().record_refused_call(self.act(who), RefusedCall { path, ..call }).await
    }
    async fn verify_audit(&self, _: Principal) -> Result<view::AuditVerdict, Error> {
        let verified = self.hub.store().verify_audit().await?;
        Ok(view::AuditVerdict { ok: true, rows: verified.rows, nodes: verified.nodes })
    }
}
