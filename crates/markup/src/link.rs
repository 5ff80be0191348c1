//! Links of a Markdown text, found where they stand.

use comrak::nodes::NodeValue;
use comrak::{Arena, parse_document};

use crate::table::{Edit, line_starts, options};

/// A link that is written `[label](url)`.
pub(crate) struct Link<'a> {
    pub(crate) label: &'a str,
    pub(crate) url: &'a str,
}

/// An edit for each link that `replacement` gives one for.
pub(crate) fn link_edits(markdown: &str, replacement: impl Fn(&Link<'_>) -> Option<String>) -> Vec<Edit> {
    if !markdown.contains("](") {
        return Vec::new();
    }
    let arena = Arena::new();
    let root = parse_document(&arena, markdown, &options());
    let starts = line_starts(markdown);
    let mut edits = Vec::new();
    for node in root.descendants() {
        let data = node.data();
        let NodeValue::Link(link) = &data.value else { continue };
        let pos = data.sourcepos;
        let offset = |line: usize, column: usize| starts.get(line - 1).map(|start| start + column);
        let (Some(from), Some(to)) =
            (offset(pos.start.line, pos.start.column - 1), offset(pos.end.line, pos.end.column))
        else {
            continue;
        };
        // The source must really hold the link there; a position that is off changes nothing.
        let written = markdown.get(from..to).and_then(|part| part.strip_prefix('['));
        let label = written.and_then(|part| part.strip_suffix(&format!("]({})", link.url)));
        let with = label.and_then(|label| replacement(&Link { label, url: &link.url }));
        edits.extend(with.map(|with| Edit { range: from..to, with }));
    }
    edits
}
