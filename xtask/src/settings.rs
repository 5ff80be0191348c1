//! The table of settings in the documents has the keys that the program has.

use std::collections::BTreeSet;

use crate::tree::File;

const SOURCE: &str = "crates/hub/src/config/sections.rs";
const TABLE: &str = "docs/operations.md";
/// Names of files stand in tables too.
const FILE_ENDINGS: &[&str] = &["toml", "lock"];

/// Keys that stand on one side only.
pub(crate) fn faults(files: &[File]) -> Vec<String> {
    let text = |path: &str| files.iter().find(|file| file.path == path).map(|file| file.text.as_str());
    let (Some(source), Some(table)) = (text(SOURCE), text(TABLE)) else {
        return vec![format!("{SOURCE} or {TABLE} is missing")];
    };
    let (keys, told) = (of_source(source), of_table(table));
    let untold = keys.difference(&told).map(|key| format!("{TABLE}: lacks the key {key}"));
    let gone = told.difference(&keys).map(|key| format!("{TABLE}: tells of {key}, which is no key"));
    untold.chain(gone).collect()
}

/// `section.key` of each field; a section starts with its name in a comment.
fn of_source(text: &str) -> BTreeSet<String> {
    let mut section = "";
    let mut keys = BTreeSet::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("/// `[").and_then(|rest| rest.split_once("]`")) {
            section = name.0;
        } else if let Some((key, _)) =
            line.split_once(": ").filter(|(key, rest)| is_word(key) && rest.contains(" = "))
        {
            keys.insert(format!("{section}.{key}"));
        }
    }
    keys
}

/// The first cell of each row that names a key.
fn of_table(text: &str) -> BTreeSet<String> {
    let cell = |line: &str| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned());
    let is_key = |cell: &String| {
        let parts = cell.rsplit_once('.');
        let parts = parts.filter(|(section, key)| section.split('.').all(is_word) && is_word(key));
        parts.is_some_and(|(_, key)| !FILE_ENDINGS.contains(&key))
    };
    text.lines().filter_map(cell).filter(is_key).collect()
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_are_read() {
        let source = "section! {\n/// `[lease]`\nLease {\n/// A time.\nttl_ms: i64 = 5,\n}\n}";
        let keys = of_source(source);
        assert_eq!(keys.iter().collect::<Vec<_>>(), ["lease.ttl_ms"]);
        assert_eq!(of_table("| `loom.toml` | x |\n| `lease.ttl_ms` | `5` | A time. |"), keys);
        assert_eq!(of_table("| `a.b.c` | `5` | A key below a section. |").len(), 1);
    }
}
