//! What no file of the tree may hold: paths of one machine, private registries, more than one room's lines.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

/// A source file above this is more than one room.
const LINES_MAX: usize = 600;
/// Larger files are data, not text to read.
const BYTES_MAX: u64 = 2 * 1024 * 1024;
/// Home and work folders that only one machine has.
const MACHINE_FOLDERS: &[&str] = &["root", "work"];
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";
const NPM: &str = "https://registry.npmjs.org/";

/// A text file of the tree.
#[derive(Debug)]
pub(crate) struct File {
    /// Path below the top of the checkout.
    pub(crate) path: String,
    /// What it holds.
    pub(crate) text: String,
}

/// Reads every text file that git would keep.
pub(crate) fn files(root: &Path) -> anyhow::Result<Vec<File>> {
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .context("git ls-files")?;
    anyhow::ensure!(
        output.status.success(),
        "git ls-files: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let paths = String::from_utf8(output.stdout)?;
    Ok(paths.split_terminator('\0').filter_map(|path| read(root, path)).collect())
}

fn read(root: &Path, path: &str) -> Option<File> {
    let full = root.join(path);
    let meta = std::fs::symlink_metadata(&full).ok()?;
    if !meta.is_file() || meta.len() > BYTES_MAX {
        return None;
    }
    Some(File { path: path.to_owned(), text: std::fs::read_to_string(full).ok()? })
}

/// Every fault of the files, one line each.
pub(crate) fn faults(files: &[File]) -> Vec<String> {
    files
        .iter()
        .flat_map(|file| [too_long(file), machine_path(file), registry(file)].into_iter().flatten())
        .collect()
}

fn too_long(file: &File) -> Option<String> {
    let is_source = [".rs", ".sh", ".mjs", ".py", ".sql"].iter().any(|end| file.path.ends_with(end));
    let lines = file.text.lines().count();
    (is_source && lines > LINES_MAX).then(|| format!("{}: {lines} lines, at most {LINES_MAX}", file.path))
}

fn machine_path(file: &File) -> Option<String> {
    (1_usize..)
        .zip(file.text.lines())
        .find(|(_, line)| names_machine(line))
        .map(|(number, _)| format!("{}:{number}: an absolute path of one machine", file.path))
}

fn names_machine(line: &str) -> bool {
    MACHINE_FOLDERS.iter().any(|folder| {
        let path = format!("/{folder}/");
        line.match_indices(&path).any(|(at, _)| {
            let before = line.get(..at).and_then(|text| text.chars().next_back());
            let after = line.get(at + path.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(is_name) && after.is_some_and(is_name)
        })
    })
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || "._-}".contains(letter)
}

/// A lock file that names another registry works on one machine only.
fn registry(file: &File) -> Option<String> {
    let name = file.path.rsplit('/').next()?;
    let foreign = |key: &str, home: &str| {
        let value = |line: &str| {
            line.trim().strip_prefix(key).map(|rest| rest.trim_matches([' ', '"', ',']).to_owned())
        };
        file.text.lines().filter_map(value).find(|value| !value.starts_with(home))
    };
    let found = match name {
        "Cargo.lock" => foreign("source = ", CRATES_IO),
        "package-lock.json" => foreign("\"resolved\":", NPM),
        "requirements.txt" => file.text.lines().find(|line| line.contains("://")).map(str::to_owned),
        ".npmrc" | "pip.conf" => Some("settings of one machine".to_owned()),
        _ => None,
    };
    found.map(|what| format!("{}: names another registry: {what}", file.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(path: &str, text: &str) -> usize {
        faults(&[File { path: path.to_owned(), text: text.to_owned() }]).len()
    }

    #[test]
    fn paths_of_one_machine_are_refused() {
        let folder = MACHINE_FOLDERS[0];
        assert_eq!(judged("a.md", &format!("see /{folder}/notes")), 1);
        assert_eq!(judged("a.rs", &format!("const PREFIX: &str = \"/{folder}/\";")), 0);
        assert_eq!(judged("a.rs", &format!("target/{folder}/x")), 0);
    }

    #[test]
    fn lock_files_name_the_public_registries() {
        assert_eq!(judged("Cargo.lock", "source = \"registry+https://example.org/index\""), 1);
        assert_eq!(judged("Cargo.lock", &format!("source = \"{CRATES_IO}\"")), 0);
        assert_eq!(judged("p/package-lock.json", "  \"resolved\": \"https://example.org/a.tgz\","), 1);
        assert_eq!(judged("p/package-lock.json", &format!("  \"resolved\": \"{NPM}a.tgz\",")), 0);
        assert_eq!(judged("p/requirements.txt", "--index-url https://example.org/simple"), 1);
        assert_eq!(judged("p/requirements.txt", "slack_sdk==1.0"), 0);
    }

    #[test]
    fn a_file_is_one_room() {
        assert_eq!(judged("a.rs", &"line\n".repeat(LINES_MAX)), 0);
        assert_eq!(judged("a.rs", &"line\n".repeat(LINES_MAX + 1)), 1);
    }
}
