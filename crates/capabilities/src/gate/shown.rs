//! Content as the owner is shown it: nothing that reorders, hides or joins characters stays invisible.

/// The text with every character that cannot be seen for what it is as `\u{…}`. A typed `\u{` is spelled out too,
/// so that no text looks like another one.
pub fn spelled_out(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let looks_spelled = c == '\\' && rest.peek() == Some(&'u');
        if looks_spelled || is_hidden(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Characters without a shape of their own: controls, formats, fillers, selectors, tags, odd spaces, private ones.
fn is_hidden(c: char) -> bool {
    if c == '\n' {
        return false;
    }
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(u32::from(c),
            0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f
            | 0x200b..=0x200f | 0x2028..=0x202f | 0x205f..=0x206f | 0x2800 | 0x3164
            | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
            | 0x600..=0x605 | 0x6dd | 0x70f | 0x890 | 0x891 | 0x8e2
            | 0x110bd | 0x110cd | 0x13430..=0x1343f | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a
            | 0xe000..=0xf8ff | 0xe0000..=0xe0fff | 0xf0000..=0x10_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAP-119: what cannot be seen is spelled out, and plain text is left alone in any script.
    #[test]
    fn cap_119_invisible_characters_are_shown_as_code_points() {
        let cases = [
            ("pay\u{200b}pal", r"pay\u{200b}pal"),
            ("abc\u{202e}txt.exe", r"abc\u{202e}txt.exe"),
            ("\u{2066}x\u{2069}", r"\u{2066}x\u{2069}"),
            ("a\u{feff}b\u{ad}c\u{0}d\re\tf", r"a\u{feff}b\u{ad}c\u{0}d\u{d}e\u{9}f"),
            ("\u{e0041}\u{fe0f}\u{3164}\u{a0}", r"\u{e0041}\u{fe0f}\u{3164}\u{a0}"),
            (r"\u{200b}", r"\u{5c}u{200b}"),
        ];
        for (text, shown) in cases {
            assert_eq!(spelled_out(text), shown);
        }
        for plain in ["two\nlines", "你好, мир, שלום, مرحبا", "{\"a\":\"b\\n\"}", "naïve 😀"]
        {
            assert_eq!(spelled_out(plain), plain);
        }
    }
}
