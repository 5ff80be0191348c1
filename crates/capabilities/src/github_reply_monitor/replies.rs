//! Counts replies: pure, comment by comment, so that memory does not grow with their texts.

use serde_json::{Value, json};

use crate::github::record;

/// What may hold the words of people.
const BODY_LIKE: [&str; 6] = ["body", "body_text", "body_html", "raw", "timeline", "reactions"];
/// Replies that are listed; the others are counted.
const LISTED_MAX: usize = 1_001;

/// Replies after an anchor.
#[derive(Debug, Default)]
pub(super) struct Replies {
    anchor_id: u64,
    anchor: Option<Anchor>,
    count: u64,
    maintainers: u64,
    bots: u64,
    gated: u64,
    listed: Vec<Value>,
}

#[derive(Debug)]
struct Anchor {
    created_at: String,
    author: Value,
}

impl Replies {
    pub(super) fn after(anchor_id: u64) -> Self {
        Replies { anchor_id, ..Replies::default() }
    }

    /// Looks for the anchor among comments.
    pub(super) fn find_anchor(&mut self, comments: &[Value]) {
        if let Some(anchor) = comments.iter().find(|comment| self.is_anchor(comment)) {
            self.anchor = anchor_of(anchor);
        }
    }

    /// Takes the anchor itself; gives the time after which replies count.
    pub(super) fn anchored(&mut self, comment: &Value) -> Option<String> {
        self.anchor = anchor_of(comment);
        self.gated += gated(comment);
        self.anchor.as_ref().map(|anchor| anchor.created_at.clone())
    }

    /// Takes one comment.
    pub(super) fn take(&mut self, comment: &Value) {
        self.gated += gated(comment);
        let Some(anchor) = &self.anchor else { return };
        let created_at = record::time(comment.get("created_at").unwrap_or(&Value::Null));
        // Loom's times compare as texts.
        let is_later = created_at.as_str().is_some_and(|at| at > anchor.created_at.as_str());
        if self.is_anchor(comment) || !is_later {
            return;
        }
        let author = record::author(comment.get("user").cloned());
        let association = comment.get("author_association").cloned().unwrap_or_default();
        let is_own = !author.is_null() && author.get("id") == anchor.author.get("id");
        let speaks_for_it = matches!(association.as_str(), Some("OWNER" | "MEMBER" | "COLLABORATOR"));
        let is_maintainer = speaks_for_it && !is_own;
        let trust = record::trust(&association, &author);
        self.count += 1;
        self.maintainers += u64::from(is_maintainer);
        self.bots += u64::from(trust == "bot");
        if self.listed.len() < LISTED_MAX {
            let updated_at = record::time(comment.get("updated_at").unwrap_or(&Value::Null));
            self.listed.push(json!({
                "id": comment.get("id"), "author": short(&author), "author_association": association, "trust": trust,
                "is_maintainer": is_maintainer, "created_at": created_at, "updated_at": updated_at,
                "url": comment.get("html_url"),
            }));
        }
    }

    /// The record, and the warnings.
    pub(super) fn fields(self, complete: bool) -> (Value, Vec<String>) {
        let warnings: Vec<String> = match &self.anchor {
            Some(_) => Vec::new(),
            None => vec!["anchor_not_found".to_owned()],
        };
        let action = if self.maintainers > 0 { "prepare_triage_note" } else { "wait" };
        let anchor = match &self.anchor {
            Some(anchor) => json!({
                "id": self.anchor_id, "found": true, "created_at": anchor.created_at, "author": short(&anchor.author),
            }),
            None => json!({"id": self.anchor_id, "found": false, "created_at": null, "author": null}),
        };
        let fields = json!({
            "anchor": anchor,
            "new_reply_count": self.count,
            "maintainer_reply_count": self.maintainers,
            "bot_reply_count": self.bots,
            "replies": self.listed,
            "gated_field_count": self.gated,
            "complete": complete,
            "recommended_action": action,
            "warnings": warnings,
        });
        (fields, warnings)
    }

    fn is_anchor(&self, comment: &Value) -> bool {
        comment.get("id").and_then(Value::as_u64) == Some(self.anchor_id)
    }
}

fn anchor_of(comment: &Value) -> Option<Anchor> {
    let created_at = record::time(comment.get("created_at")?);
    let created_at = created_at.as_str()?.to_owned();
    Some(Anchor { created_at, author: record::author(comment.get("user").cloned()) })
}

/// An author without what GitHub adds.
fn short(author: &Value) -> Value {
    match author.is_null() {
        true => Value::Null,
        false => json!({"login": author.get("login"), "id": author.get("id"), "type": author.get("type")}),
    }
}

fn gated(comment: &Value) -> u64 {
    BODY_LIKE.iter().filter(|name| comment.get(**name).is_some()).count() as u64
}
