//! Feishu and Lark: Markdown out as the text of one `md` element, plain text out as the text of a `text` message.

use comrak::nodes::NodeValue;
use comrak::{Arena, parse_document};

use crate::Limit;
use crate::link::{Link, link_edits};
use crate::table::{Edit, apply, line_starts, options};

/// Longest text of one message.
pub const CHUNK_LIMIT: Limit = Limit::code_points(3_500);

/// Stands for a `<` that would open a tag.
const FULL_WIDTH_LESS_THAN: char = '\u{FF1C}';
/// Longest id of a person.
const ID_BYTES_MAX: usize = 64;
const MENTION: &str = "mention:";
/// Tags that a `text` message interprets.
const TEXT_TAGS: &[&str] = &["at", "b", "i", "u", "s"];
/// Tags that an `md` element interprets and that nobody but Loom may write.
const MD_TAGS: &[&str] = &["at"];

/// Agent Markdown as the text of an `md` element: headings lowered, `<at` guarded, `[name](mention:ou_1)` made a
/// mention, and links that the platform would drop written out.
pub fn to_md(markdown: &str) -> String {
    let mut edits = heading_edits(markdown);
    edits.extend(link_edits(markdown, link));
    edits.sort_by_key(|edit| edit.range.start);
    apply(markdown, &edits, guard_md)
}

/// A text for an `md` element in which nothing mentions anybody; nothing else is changed.
pub fn guard_md(text: &str) -> String {
    guard(text, MD_TAGS)
}

/// A text for a `text` message in which no tag is left.
pub fn plain_to_text(text: &str) -> String {
    guard(text, TEXT_TAGS)
}

/// Whether a text can be the id of a person in an app.
pub fn is_open_id(text: &str) -> bool {
    text.len() <= ID_BYTES_MAX
        && text.strip_prefix("ou_").is_some_and(|rest| {
            !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        })
}

/// A mention link names its id, which is the permission for that one mention.
fn link(link: &Link<'_>) -> Option<String> {
    let label = guard_md(link.label);
    match link.url.strip_prefix(MENTION) {
        Some(id) if is_open_id(id) => {
            let name = label.replace('<', &FULL_WIDTH_LESS_THAN.to_string());
            Some(format!("<at user_id=\"{id}\">{name}</at>"))
        }
        _ if link.url.starts_with("https://") || link.url.starts_with("http://") => None,
        _ => Some(format!("{label} ({})", guard_md(link.url))),
    }
}

/// H1 becomes H4, every other heading H5; underlined ones get marks.
fn heading_edits(markdown: &str) -> Vec<Edit> {
    let arena = Arena::new();
    let root = parse_document(&arena, markdown, &options());
    let starts = line_starts(markdown);
    let mut edits = Vec::new();
    for node in root.descendants() {
        let data = node.data();
        let NodeValue::Heading(heading) = &data.value else { continue };
        let pos = data.sourcepos;
        let Some(from) = starts.get(pos.start.line - 1).map(|start| start + pos.start.column - 1) else {
            continue;
        };
        let marks = if heading.level == 1 { "####" } else { "#####" };
        if !heading.setext {
            let written = usize::from(heading.level);
            let is_there = markdown.get(from..from + written).is_some_and(|m| m.bytes().all(|b| b == b'#'));
            if is_there {
                edits.push(Edit { range: from..from + written, with: marks.to_owned() });
            }
            continue;
        }
        // The last line is the underline; a heading of several lines becomes one of one line.
        let to = starts.get(pos.end.line).map_or(markdown.len(), |next| next - 1);
        let lines: Vec<&str> = markdown.get(from..to).unwrap_or("").lines().collect();
        let Some((_, words)) = lines.split_last().filter(|(_, words)| !words.is_empty()) else { continue };
        let words: Vec<String> = words.iter().map(|line| guard_md(line.trim())).collect();
        edits.push(Edit { range: from..to, with: format!("{marks} {}", words.join(" ")) });
    }
    edits
}

/// Writes the `<` of these tags, opening and closing, as a character that opens none.
fn guard(text: &str, tags: &[&str]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        let behind = from.get(1..).unwrap_or("");
        out.push_str(before);
        out.push(if opens(behind, tags) { FULL_WIDTH_LESS_THAN } else { '<' });
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Whether what stands behind a `<` makes it one of these tags.
fn opens(behind: &str, tags: &[&str]) -> bool {
    let name = behind.strip_prefix('/').unwrap_or(behind);
    tags.iter().any(|tag| {
        let is_tag = name.get(..tag.len()).is_some_and(|word| word.eq_ignore_ascii_case(tag));
        let after = name.get(tag.len()..).and_then(|rest| rest.chars().next());
        is_tag && after.is_none_or(|c| !c.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unit;

    fn check(markdown: &str, want: &str) {
        assert_eq!(to_md(markdown), want);
    }

    /// MSG-176: the golden forms of Feishu's Markdown.
    #[test]
    fn msg_176_headings_are_lowered_and_the_rest_stays() {
        check("# One\n\n## Two\n###### Six\n", "#### One\n\n##### Two\n##### Six\n");
        check("Title\n=====\n\nSub\n---\ntext", "#### Title\n\n##### Sub\ntext");
        check("two\nlines\n===\n", "#### two lines\n");
        check("> # quoted\n\n- # listed", "> #### quoted\n\n- #### listed");
        check("```sh\n# a comment\n```\n#no heading", "```sh\n# a comment\n```\n#no heading");
        check(
            "a < b & **c** > d `x<y` [s](https://e.org/?a=1&b=2)",
            "a < b & **c** > d `x<y` [s](https://e.org/?a=1&b=2)",
        );
    }

    /// MSG-088: agent text alone never notifies anybody.
    #[test]
    fn msg_088_agent_text_makes_no_mention() {
        check("<at user_id=\"all\"></at>", "\u{FF1C}at user_id=\"all\">\u{FF1C}/at>");
        check("# <AT user_id=\"ou_1\">x</at>", "#### \u{FF1C}AT user_id=\"ou_1\">x\u{FF1C}/at>");
        check("`<at id=all>` <attr> <<at>", "`\u{FF1C}at id=all>` <attr> <\u{FF1C}at>");
        check("<at user_id=\"ou_1\">x\n===", "#### \u{FF1C}at user_id=\"ou_1\">x");
    }

    #[test]
    fn msg_088_a_mention_link_mentions_one_person() {
        check("Hi [Ann](mention:ou_a1)!", "Hi <at user_id=\"ou_a1\">Ann</at>!");
        check("`[Ann](mention:ou_a1)`", "`[Ann](mention:ou_a1)`");
        check("[all](mention:all) [x](mention:U1)", "all (mention:all) x (mention:U1)");
        check("# [A</at>](mention:ou_1)", "#### <at user_id=\"ou_1\">A\u{FF1C}/at></at>");
    }

    /// The platform keeps only the words of a link whose URL it does not take.
    #[test]
    fn a_link_that_would_be_dropped_is_written_out() {
        check("see [notes](docs/notes.md) now", "see notes (docs/notes.md) now");
        check("[m](mailto:a@e.org)", "m (mailto:a@e.org)");
    }

    #[test]
    fn plain_text_keeps_its_angle_brackets() {
        assert_eq!(
            plain_to_text("a <b>x</b> <i y> <br> 1 < 2 </at>"),
            "a \u{FF1C}b>x\u{FF1C}/b> \u{FF1C}i y> <br> 1 < 2 \u{FF1C}/at>"
        );
        assert_eq!(plain_to_text("<"), "<");
    }

    /// MSG-175: a chunk fits after its headings have grown.
    #[test]
    fn msg_175_chunks_fit_after_translation() {
        let limit = Limit { max: CHUNK_LIMIT.max, unit: Unit::FeishuMarkdown };
        let text = "# h\n## h\n".repeat(2_000) + &"#".repeat(9_000) + "\n" + &"word ".repeat(4_000);
        let chunks = crate::split_chunks(&text, limit, 100).unwrap();
        assert_eq!(crate::join(&chunks), text);
        for chunk in chunks {
            assert!(to_md(&chunk.text).chars().count() <= CHUNK_LIMIT.max);
        }
    }
}
