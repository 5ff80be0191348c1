//! Notices: told once until acknowledged.

use loom_domain::{Notice, NoticeId, Result};

use crate::{Unit, docs, params, records::StoredNotice};

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
        hint: Some(tell.hint),
        created_at: unit.now,
        acked_at: None,
    };
    unit.change("notice.created", notice.id.as_str(), None, 1, &[])?;
    docs::insert(unit.tx, &StoredNotice { notice, dedupe_key })
}
