//! Makes text from outside harmless on a terminal.

use std::fmt::Write as _;

/// Shows control characters and characters that change the direction of text instead of letting them act.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => safe.push_str("\\n"),
            '\t' => safe.push_str("    "),
            '\r' => safe.push_str("\\r"),
            c if acts(c) => {
                // Writing to a String cannot fail.
                let _ = write!(safe, "\\u{{{:x}}}", u32::from(c));
            }
            c => safe.push(c),
        }
    }
    safe
}

fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_sequences_are_shown_not_executed() {
        assert_eq!(escape("a\u{1b}[31mb\u{7}\u{9b}x"), "a\\u{1b}[31mb\\u{7}\\u{9b}x");
        assert_eq!(escape("evil\u{202e}gpj.exe"), "evil\\u{202e}gpj.exe");
        assert_eq!(escape("one\ntwo\r"), "one\\ntwo\\r");
        assert_eq!(escape("Grüße 你好 👍🏽"), "Grüße 你好 👍🏽");
    }
}
