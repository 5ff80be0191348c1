//! Looks through files for hits of the redactor, in overlapping windows, whatever their size or kind.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use loom_secrets::{Profile, Redactor, Rule};

/// Bytes that are looked through at once.
const WINDOW_BYTES: usize = 16 * 1024 * 1024;
/// Bytes that the next window sees again, so that nothing is lost at a border.
const OVERLAP_BYTES: usize = 1024 * 1024;
/// Hits that are kept; beyond them only the fact is told.
const HITS_MAX: usize = 10_000;
/// Files of one look.
const FILES_MAX: u64 = 1_000_000;
/// Depth of directories.
const DEPTH_MAX: usize = 64;

/// One hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    /// File, as it was named or found.
    pub(crate) file: String,
    /// Line, from 1.
    pub(crate) line: u64,
    /// Rule that matched.
    pub(crate) rule: Rule,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Hits in the order of files and lines.
    pub(crate) hits: Vec<Hit>,
    /// Whether hits were left out.
    pub(crate) is_cut: bool,
    /// Files that could not be read.
    pub(crate) unreadable: Vec<String>,
    /// Files that were read.
    pub(crate) files: u64,
    /// Bytes that were read.
    pub(crate) bytes: u64,
}

/// Looks through a file, or every file below a directory. Symbolic links below it are not followed.
pub(crate) fn tree(path: &Path, redactor: &Redactor, found: &mut Found) {
    walk(path, redactor, found, DEPTH_MAX);
}

fn walk(path: &Path, redactor: &Redactor, found: &mut Found, depth: usize) {
    let name = path.to_string_lossy().into_owned();
    let Ok(facts) = fs::metadata(path) else { return found.unreadable.push(name) };
    if facts.is_file() {
        return match File::open(path) {
            Ok(mut file) if found.files < FILES_MAX => stream(&name, &mut file, redactor, found),
            _ => found.unreadable.push(name),
        };
    }
    if !facts.is_dir() {
        // Sockets and pipes hold nothing that is kept.
        return;
    }
    let entries = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let (Ok(mut entries), true) = (entries, depth > 0) else { return found.unreadable.push(name) };
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            walk(&entry.path(), redactor, found, depth - 1);
        }
    }
}

/// Looks through a stream.
pub(crate) fn stream(name: &str, reader: &mut dyn Read, redactor: &Redactor, found: &mut Found) {
    if in_windows(name, reader, redactor, found, WINDOW_BYTES, OVERLAP_BYTES).is_err() {
        found.unreadable.push(name.to_owned());
    }
    found.files += 1;
}

fn in_windows(
    name: &str,
    reader: &mut dyn Read,
    redactor: &Redactor,
    found: &mut Found,
    window_bytes: usize,
    overlap_bytes: usize,
) -> io::Result<()> {
    let mut window: Vec<u8> = Vec::new();
    let (mut line, mut done_to) = (1_u64, 0_usize);
    loop {
        let wanted = window_bytes.saturating_sub(window.len());
        let read = reader.take(u64::try_from(wanted).unwrap_or(u64::MAX)).read_to_end(&mut window)?;
        found.bytes += u64::try_from(read).unwrap_or(0);
        let is_last = read < wanted;
        // A hit that begins in the overlap may be cut off here; it is whole in the next window, where it is told.
        let border = if is_last { window.len() } else { window.len().saturating_sub(overlap_bytes) };
        for hit in redactor.scan(&window, Profile::Export) {
            if hit.start >= done_to && (hit.start < border || is_last) {
                tell(
                    Hit { file: name.to_owned(), line: line + lines(&window, hit.start), rule: hit.rule },
                    found,
                );
                done_to = hit.end;
            }
        }
        if is_last {
            return Ok(());
        }
        line += lines(&window, border);
        window.drain(..border);
        done_to = done_to.saturating_sub(border);
    }
}

/// Line ends before a place.
fn lines(window: &[u8], to: usize) -> u64 {
    let before = window.get(..to).unwrap_or_default();
    u64::try_from(before.split(|byte| *byte == b'\n').skip(1).count()).unwrap_or(0)
}

fn tell(hit: Hit, found: &mut Found) {
    if found.hits.last() == Some(&hit) {
        return;
    }
    match found.hits.len() < HITS_MAX {
        true => found.hits.push(hit),
        false => found.is_cut = true,
    }
}

#[cfg(test)]
mod tests {
    use loom_secrets::Secret;

    use super::*;

    #[test]
    fn hits_at_the_borders_of_windows_are_told_once_with_their_lines() {
        let redactor = Redactor::new();
        redactor.register(&Secret::new("the-canary-value"));
        for padding in 0..200 {
            let text = format!("{}\nthe-canary-value\n{}\n", "x".repeat(padding), "y".repeat(130));
            let mut found = Found::default();
            in_windows("f", &mut text.as_bytes(), &redactor, &mut found, 64, 32).unwrap();
            let hits: Vec<(u64, Rule)> = found.hits.iter().map(|hit| (hit.line, hit.rule)).collect();
            assert_eq!(hits, [(2, Rule::ExactSecret)], "{padding}");
            assert_eq!(found.bytes, text.len() as u64);
        }
    }
}
