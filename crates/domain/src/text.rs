//! Small helpers over text with byte limits.

/// The longest prefix of at most `bytes_max` bytes that ends at a character.
#[must_use]
pub fn prefix(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or("")
}
