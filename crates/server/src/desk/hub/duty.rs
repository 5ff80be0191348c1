//! Answers, Notices and audit of a hub.

use std::time::Duration;

use async_trait::async_trait;
use loom_api::{Mutation, Page, query, request, view};
use loom_domain::time::parse_duration_ms;
use loom_domain::{Code, Error, Notice, NoticeId, Principal, Timestamp};
use loom_store::ops::policy::PolicyDraft;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::HubDesk;
use crate::desk::{Answers, Duty, Intent};

#[async_trait]
impl Answers for HubDesk {
    async fn where_is(&self, who: Principal, query: query::Where) -> Result<view::Where, Error> {
        let q = query.q.ok_or_else(|| Error::new(Code::MissingField, "q: give an id or a link"))?;
        self.hub.store().where_is(who, q).await
    }
    async fn explain_policy(
        &self,
        _: Principal,
        mut question: request::PolicyExplain,
    ) -> Result<view::PolicyExplanation, Error> {
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

fn since(now: Timestamp, text: &str) -> Result<Timestamp, Error> {
    text.parse().or_else(|_| Ok(now.plus_ms(-parse_duration_ms(text)?)))
}

/// Reads whole records as they would be; an absent draft changes nothing.
fn draft_of(draft: Option<Value>) -> Result<PolicyDraft, Error> {
    let draft = draft.unwrap_or_default();
    Ok(PolicyDraft {
        connections: records(&draft, "connections")?,
        addresses: records(&draft, "addresses")?,
        memberships: records(&draft, "memberships")?,
    })
}

fn records<T: DeserializeOwned>(draft: &Value, name: &str) -> Result<Vec<T>, Error> {
    let Some(records) = draft.get(name).cloned() else { return Ok(Vec::new()) };
    serde_json::from_value(records)
        .map_err(|_| Error::invalid("draft", format!("`{name}` is not a list of whole records")))
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
        self.hub.store().audit_rows(None, query.since.unwrap_or(0), query.limit).await
    }
    async fn verify_audit(&self, _: Principal) -> Result<view::AuditVerdict, Error> {
        let verified = self.hub.store().verify_audit().await?;
        Ok(view::AuditVerdict { ok: true, rows: verified.rows, nodes: verified.nodes })
    }
}
