//! A place in a JSON document, written as a jq path: `.meta.next`, `.data[0].items`, `."odd name"`, `.`.

use std::fmt;
use std::str::FromStr;

use loom_domain::{Code, Error, Result};
use serde_json::Value;

/// Longest path in bytes.
const PATH_BYTES_MAX: usize = 512;
/// Most steps of a path.
const STEPS_MAX: usize = 32;

/// A jq path of members and indices; no filters, no slices, no negative indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JqPath {
    text: String,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Member(String),
    Index(usize),
}

impl JqPath {
    /// The value at the path; `None` where a member is absent.
    pub fn find<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        self.steps.iter().try_fold(document, |value, step| match step {
            Step::Member(name) => value.get(name.as_str()),
            Step::Index(index) => value.get(*index),
        })
    }
}

impl fmt::Display for JqPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for JqPath {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::new(Code::InvalidInput, format!("{text} is not a path"))
                .with_hint("Write members and indices as in `.meta.next` or `.data[0]`.")
        };
        if text.len() > PATH_BYTES_MAX || !text.starts_with('.') {
            return Err(wrong());
        }
        let mut steps = Vec::new();
        let mut rest = if text == "." { "" } else { text };
        while !rest.is_empty() {
            let (step, after) = read_step(rest, steps.is_empty()).ok_or_else(wrong)?;
            steps.push(step);
            rest = after;
            if steps.len() > STEPS_MAX {
                return Err(wrong());
            }
        }
        Ok(JqPath { text: text.to_owned(), steps })
    }
}

fn read_step(text: &str, is_first: bool) -> Option<(Step, &str)> {
    // `.[0]` stands at the beginning only; later an index follows its member directly.
    let bracket = text.strip_prefix('[').or_else(|| text.strip_prefix(".[").filter(|_| is_first));
    if let Some(inside) = bracket {
        let (index, after) = inside.split_once(']')?;
        let is_number = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
        return Some((Step::Index(is_number.then(|| index.parse().ok())??), after));
    }
    let text = text.strip_prefix('.')?;
    if let Some(quoted) = text.strip_prefix('"') {
        let (name, after) = quoted.split_once('"')?;
        return (!name.contains('\\')).then(|| (Step::Member(name.to_owned()), after));
    }
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, after) = text.split_at_checked(end)?;
    let starts_well = name.starts_with(|c: char| !c.is_ascii_digit());
    starts_well.then(|| (Step::Member(name.to_owned()), after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_finds_members_and_indices() {
        let document = json!({"meta": {"next": "c2", "x-y": 1}, "data": [{"items": [7]}], "_a1": null});
        for (path, found) in [
            (".", Some(document.clone())),
            (".meta.next", Some(json!("c2"))),
            (".meta.\"x-y\"", Some(json!(1))),
            (".data[0].items[0]", Some(json!(7))),
            (".data[1]", None),
            (".meta.gone.further", None),
            ("._a1", Some(Value::Null)),
        ] {
            let parsed: JqPath = path.parse().unwrap();
            assert_eq!((parsed.find(&document), parsed.to_string()), (found.as_ref(), path.to_owned()));
        }
        assert_eq!(".[1]".parse::<JqPath>().unwrap().find(&json!([1, 2])), Some(&json!(2)));
    }

    #[test]
    fn everything_else_of_jq_is_refused() {
        let deep = ".a".repeat(40);
        let long = format!(".{}", "a".repeat(600));
        for text in [
            "", "a", "..", ".a..b", ".a[]", ".a[-1]", ".a[+1]", ".a[1:2]", ".a|.b", ".a.[0]", ".x-y", ".1a",
            ".\"a", ".a ", &deep, &long,
        ] {
            assert_eq!(text.parse::<JqPath>().unwrap_err().code, Code::InvalidInput, "{text}");
        }
    }
}
