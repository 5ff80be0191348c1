//! Notices: told once until acknowledged.

use loom_api::query;
use loom_domain::{Notice, NoticeId, Result};
use serde_json::json;

use super::lookup::{self, Filter};
use crate::{Act, Audit, Store, Unit, docs, page::PageQuery, params, records::StoredNotice};

/// What to tell the owner.
pub(crate) struct Tell<'a> {
    /// Kind word.
    pub(crate) kind: &'a str,
    /// Object it is about.
    pub(crate) object: &'a str,
    /// One sentence.
    pub(crate) text: String,
    /// What to run next.
    pub(crate) hint: String,
}

/// Records a Notice unless the same one is open.
pub(crate) fn tell(unit: &mut Unit<'_>, tell: Tell<'_>) -> Result<()> {
    let dedupe_key = format!("{}:{}", tell.kind, tell.object);
    let open = "SELECT 1 FROM notices WHERE dedupe_key = ?1 AND acked = 0";
    if unit.tx.first(open, &params![dedupe_key.as_str()])?.is_some() {
        return Ok(());
    }
    let notice = Notice {
        id: NoticeId::new(unit.now.0, unit.random()),
        seq: unit.seq()?,
        kind: tell.kind.to_owned(),
        object: Some(tell.object.to_owned()).filter(|o| !o.is_empty()),
        text: tell.text,
        hint: Some(tell.hint).filter(|hint| !hint.is_empty()),
        created_at: unit.now,
        acked_at: None,
    };
    unit.change("notice.created", notice.id.as_str(), None, 1, &[])?;
    docs::insert(unit.tx, &StoredNotice { notice, dedupe_key })
}

impl Store {
    /// Tells the owner something, unless the same kind about the same object is open already.
    pub async fn tell(
        &self,
        act: Act,
        kind: String,
        object: String,
        text: String,
        hint: String,
    ) -> Result<()> {
        self.write(act, move |unit| {
            tell(unit, Tell { kind: &kind, object: &object, text: text.clone(), hint: hint.clone() })
        })
        .await
    }

    /// A page of Notices, newest first; acknowledged ones only with `all`.
    pub async fn list_notices(&self, query: query::Notices) -> Result<loom_api::Page<Notice>> {
        self.read(move |tx| {
            let mut filter = Filter::default();
            if !query.all.unwrap_or(false) {
                filter.plain("acked = 0");
            }
            let paging = PageQuery { limit: query.limit, cursor: query.cursor };
            let page = filter.page(tx, &paging, |stored: &StoredNotice| stored.notice.seq)?;
            lookup::map_page(page, |stored| Ok(stored.notice))
        })
        .await
    }

    /// Acknowledges a Notice. A repeat changes nothing.
    pub async fn ack_notice(&self, act: Act, id: NoticeId) -> Result<Notice> {
        self.write(act, move |unit| {
            unit.principal.require_owner()?;
            let mut stored: StoredNotice = docs::require_locked(unit.tx, id.as_str())?;
            if stored.notice.acked_at.is_none() {
                stored.notice.acked_at = Some(unit.now);
                docs::update(unit.tx, &stored)?;
                unit.audit(&Audit {
                    action: "notice.ack",
                    object: id.as_str(),
                    versions: (None, None),
                    outcome: "ok",
                    detail: json!({"kind": stored.notice.kind}),
                })?;
            }
            Ok(stored.notice)
        })
        .await
    }
}
