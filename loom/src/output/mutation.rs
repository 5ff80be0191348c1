//! Prints what a change did.

use serde_json::Value;

use super::{Printer, pick};
use crate::failure::Outcome;

impl Printer<'_> {
    /// Prints a change: the document for programs, one line and its warnings for people.
    pub(crate) fn mutation(&mut self, mutation: &Value) -> Outcome {
        if self.is_human() {
            self.line(&sentence(mutation))?;
        } else {
            self.json(mutation)?;
        }
        self.warnings(mutation)
    }

    /// Prints a change with a line of the command's own.
    pub(crate) fn mutation_as(&mut self, mutation: &Value, line: &str) -> Outcome {
        let plan = if pick::is(mutation, "dryRun") { "dry run, nothing changed: " } else { "" };
        if self.is_human() {
            self.line(&format!("{plan}{line}"))?;
        } else {
            self.json(mutation)?;
        }
        self.warnings(mutation)
    }

    fn warnings(&mut self, mutation: &Value) -> Outcome {
        let mut warnings = pick::list(mutation, "warnings").iter().filter_map(Value::as_str);
        warnings.try_for_each(|text| self.note(&format!("warning: {text}")))
    }
}

/// `updated mem_… v4→v5 (guidance)`.
fn sentence(mutation: &Value) -> String {
    let id = pick::text(mutation, "object.id");
    let version = pick::number(mutation, "object.version");
    let changed = pick::list(mutation, "changed");
    let plan = if pick::is(mutation, "dryRun") { "dry run, nothing changed: " } else { "" };
    if pick::is(mutation, "created") {
        return format!("{plan}created {id} v{version}");
    }
    if changed.is_empty() {
        return format!("{plan}unchanged {id} v{version}");
    }
    let fields = pick::text(mutation, "changed").replace(',', ", ");
    format!("{plan}updated {id} v{}→v{version} ({fields})", version.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::sentence;

    #[test]
    fn sentences() {
        let mut change =
            json!({"object": {"id": "mem_1", "version": 5}, "created": false, "changed": ["guidance"]});
        assert_eq!(sentence(&change), "updated mem_1 v4→v5 (guidance)");
        change["changed"] = json!([]);
        assert_eq!(sentence(&change), "unchanged mem_1 v5");
        change["created"] = json!(true);
        change["dryRun"] = json!(true);
        assert_eq!(sentence(&change), "dry run, nothing changed: created mem_1 v5");
    }
}
