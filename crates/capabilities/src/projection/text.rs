//! Text of providers without characters that act.

/// The text without control characters other than line feed and tab.
pub(super) fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}
