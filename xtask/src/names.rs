//! What the documents name must exist: files of the tree, and tests.

use std::collections::HashSet;

use crate::tree::File;

/// Folders at the top whose paths are checked.
const ROOMS: &[&str] =
    &["crates/", "loom/", "tests/", "peers/", "bench/", "xtask/", "scripts/", "docs/", ".ci/"];
/// How the names of tests begin: the case they prove, or the story they tell.
const CASES: &[&str] = &["msg_", "cap_", "atk_", "rt_", "id_", "op_", "pb_", "p_", "ux_", "peers_", "crash_"];

/// Every name in a document that nothing in the tree has.
pub(crate) fn faults(files: &[File]) -> Vec<String> {
    let tree = Tree::of(files);
    files.iter().filter(|file| is_document(&file.path)).flat_map(|file| in_document(file, &tree)).collect()
}

fn is_document(path: &str) -> bool {
    let is_ours = !path.contains('/') || path.starts_with("docs/");
    is_ours && std::path::Path::new(path).extension().is_some_and(|end| end == "md")
}

struct Tree<'a> {
    paths: HashSet<&'a str>,
    tests: HashSet<&'a str>,
}

impl<'a> Tree<'a> {
    fn of(files: &'a [File]) -> Self {
        let names =
            |file: &'a File| file.text.split("fn ").skip(1).map(|rest| rest.split('(').next().unwrap_or(""));
        let is_rust =
            |file: &&File| std::path::Path::new(&file.path).extension().is_some_and(|end| end == "rs");
        Tree {
            paths: files.iter().map(|file| file.path.as_str()).collect(),
            tests: files.iter().filter(is_rust).flat_map(names).collect(),
        }
    }

    /// A file, a folder, or anything below the part before a `*`.
    fn has_path(&self, path: &str) -> bool {
        let fixed = path.split(['*', '…']).next().unwrap_or(path);
        let is_folder_of = |folder: &str| self.paths.iter().any(|path| path.starts_with(folder));
        if fixed.len() < path.len() || path.ends_with('/') {
            return is_folder_of(fixed);
        }
        self.paths.contains(path) || is_folder_of(&format!("{path}/"))
    }
}

fn in_document(file: &File, tree: &Tree<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in (1_usize..).zip(file.text.lines()) {
        for word in line.split('`').skip(1).step_by(2) {
            let is_lost = (names_path(word) && !tree.has_path(word))
                || (names_test(word) && !tree.tests.contains(word));
            if is_lost {
                found.push(format!("{}:{number}: nothing in the tree is named {word}", file.path));
            }
        }
    }
    found
}

fn names_path(word: &str) -> bool {
    ROOMS.iter().any(|room| word.starts_with(room)) && !word.contains(char::is_whitespace)
}

fn names_test(word: &str) -> bool {
    let is_name = word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    is_name && word.len() > 16 && CASES.iter().any(|case| word.starts_with(case))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(document: &str) -> usize {
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        faults(&[
            file("docs/a.md", document),
            file("crates/x/src/lib.rs", "#[test]\nfn msg_001_it_is_so_today() {}"),
        ])
        .len()
    }

    #[test]
    fn documents_name_what_is_there() {
        assert_eq!(
            judged("`crates/x/src/lib.rs`, `crates/x/`, `crates/x/src/*.rs`, `msg_001_it_is_so_today`"),
            0
        );
        assert_eq!(judged("`crates/x/src/gone.rs`"), 1);
        assert_eq!(judged("`crates/y/…`"), 1);
        assert_eq!(judged("`msg_001_it_was_so_once`"), 1);
    }
}
