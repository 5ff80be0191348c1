//! Title and first words of an HTML document, without its markup.

/// Characters of an excerpt.
const EXCERPT_CHARS: usize = 2_000;
/// Characters of a title.
const TITLE_CHARS: usize = 300;
/// Longest name of a character, with its digits.
const ENTITY_CHARS_MAX: usize = 10;
/// Elements whose text is none for readers; inline XBRL keeps its hidden facts in a header.
const UNSEEN: &[&str] = &["script", "style", "title", "ix:header"];

/// Title and text; what has none gives none.
pub(super) fn of(html: &str) -> (Option<String>, Option<String>) {
    let (mut title, mut text) = (Words::new(TITLE_CHARS), Words::new(EXCERPT_CHARS));
    let mut rest = html;
    while !text.is_full() {
        let Some((before, tag)) = rest.split_once('<') else {
            text.push(rest);
            break;
        };
        text.push(before);
        if let Some(comment) = tag.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, rest)| rest);
            continue;
        }
        let Some((tag, after)) = tag.split_once('>') else { break };
        rest = after;
        let name = tag.split(|c: char| c.is_whitespace() || c == '/').next().unwrap_or_default();
        let Some(name) = UNSEEN.iter().find(|unseen| name.eq_ignore_ascii_case(unseen)) else {
            text.pause();
            continue;
        };
        if tag.ends_with('/') {
            continue;
        }
        let (inside, after) = until_end(rest, name);
        if *name == "title" && title.is_empty() {
            title.push(inside);
        }
        rest = after;
    }
    (title.done(), text.done())
}

/// What stands before the end of an element, and what behind it.
fn until_end<'a>(text: &'a str, name: &str) -> (&'a str, &'a str) {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("</")).map(|at| at + from) {
        let rest = text.get(at + 2..).unwrap_or_default();
        if rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            let after = rest.split_once('>').map_or("", |(_, after)| after);
            return (text.get(..at).unwrap_or_default(), after);
        }
        from = at + 2;
    }
    (text, "")
}

/// Words with one blank between them.
struct Words {
    text: String,
    chars: usize,
    most: usize,
    is_apart: bool,
}

impl Words {
    fn new(most: usize) -> Self {
        Words { text: String::new(), chars: 0, most, is_apart: false }
    }

    fn is_full(&self) -> bool {
        self.chars >= self.most
    }

    fn is_empty(&self) -> bool {
        self.chars == 0
    }

    /// The next word is another one.
    fn pause(&mut self) {
        self.is_apart = true;
    }

    fn push(&mut self, html: &str) {
        let mut rest = html;
        while let Some(c) = rest.chars().next() {
            if self.is_full() {
                return;
            }
            let named = if c == '&' { entity(rest) } else { None };
            let (c, length) = named.unwrap_or((c, c.len_utf8()));
            rest = rest.get(length..).unwrap_or_default();
            if c.is_whitespace() || c.is_control() {
                self.pause();
                continue;
            }
            if std::mem::take(&mut self.is_apart) && self.chars > 0 {
                self.text.push(' ');
                self.chars += 1;
            }
            if !self.is_full() {
                self.text.push(c);
                self.chars += 1;
            }
        }
    }

    fn done(self) -> Option<String> {
        let text = self.text.trim_end();
        (!text.is_empty()).then(|| text.to_owned())
    }
}

/// A character by its name or number, and the bytes of it.
fn entity(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(ENTITY_CHARS_MAX).position(|b| b == b';')?;
    let name = text.get(1..end)?;
    let c = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    };
    Some((c, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_what_nobody_sees_are_left_out() {
        let html = "<!DOCTYPE html><html><head><TITLE> Annual &amp; more </TITLE><style>p{}</style></head><body>\
                    <ix:header><p>hidden</p></ix:header><!-- <p>no</p> --><script>if (a</b) {}</script>\
                    <p>One&#160;two<br/>three</p>\n\n <td>4</td><td>&#x35;&bogus; &</td></body>";
        let (title, text) = of(html);
        assert_eq!(title.as_deref(), Some("Annual & more"));
        assert_eq!(text.as_deref(), Some("One two three 4 5&bogus; &"));
    }

    #[test]
    fn broken_and_long_documents_end() {
        assert_eq!(of(""), (None, None));
        assert_eq!(of("a < b <title"), (None, Some("a".to_owned())));
        assert_eq!(of("<script>x</scrip"), (None, None));
        assert_eq!(of("<title>é</titl"), (Some("é</titl".to_owned()), None));
        assert_eq!(of(&"ü ".repeat(5_000)).1.unwrap().chars().count(), 1_999);
        assert_eq!(of("&;&#;&#x110000;&#99999999999;").1.as_deref(), Some("&;&#;&#x110000;&#99999999999;"));
    }
}
