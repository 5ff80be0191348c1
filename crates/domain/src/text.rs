//! Small helpers over text with byte limits.

/// The longest prefix of at most `bytes_max` bytes that ends at a character.
#[must_use]
pub fn prefix(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let end = (0..=bytes_max).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or("")
}
