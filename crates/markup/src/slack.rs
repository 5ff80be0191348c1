//! Slack: Markdown out, escaped text out, message text in.

mod inbound;
mod mention;

use std::collections::BTreeSet;

use crate::Limit;
use crate::table::{apply, table_edits};

pub use inbound::{from_slack, is_bare_mention};
pub use mention::{is_user_id, mention_ids, slack_mentions};

/// Longest `markdown_text` of one message.
pub const MARKDOWN_LIMIT: Limit = Limit::utf16(11_000);
/// Longest plain `text` of one message.
pub const PLAIN_LIMIT: Limit = Limit::utf16(3_500);

/// Agent Markdown as `markdown_text`: tables fenced, control tokens escaped, and `[name](mention:U123)` made
/// a mention for the ids in `allowed`.
pub fn to_slack(markdown: &str, allowed: &BTreeSet<String>) -> String {
    let mut edits = table_edits(markdown);
    for edit in &mut edits {
        edit.with = escape_control(&edit.with);
    }
    edits.extend(mention::mention_edits(markdown, allowed));
    edits.sort_by_key(|edit| edit.range.start);
    apply(markdown, &edits, escape_control)
}

/// A text as Slack's escaped `text`.
pub fn plain_to_slack(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Escapes the start of `<!…>`, `<@…>` and `<#…>` and changes nothing else.
pub fn escape_control(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('<', Some('!' | '@' | '#')) => out.push_str("&lt;"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(markdown: &str, want: &str) {
        let allowed = BTreeSet::from(["U123".to_owned()]);
        assert_eq!(to_slack(markdown, &allowed), want);
    }

    /// MSG-176: the golden forms of Slack Markdown.
    #[test]
    fn msg_176_markdown_keeps_its_signs() {
        check("a < b & c > d `x < y`", "a < b & c > d `x < y`");
        check("**bold** [site](https://e.org/?a=1&b=2)", "**bold** [site](https://e.org/?a=1&b=2)");
        check("<https://e.org>\n> quote\n", "<https://e.org>\n> quote\n");
        check(
            "| a | b |\n|---|---|\n| <!here> | 1 |",
            "```\na       | b\n--------+----\n&lt;!here> | 1\n```",
        );
    }

    /// MSG-176: plain text is escaped with exactly three entities.
    #[test]
    fn msg_176_plain_text_is_escaped() {
        assert_eq!(plain_to_slack("<@U1> & \"x\" >"), "&lt;@U1&gt; &amp; \"x\" &gt;");
        assert_eq!(plain_to_slack("&lt;!here&gt;"), "&amp;lt;!here&amp;gt;");
    }

    /// MSG-088: agent text alone never notifies anybody.
    #[test]
    fn msg_088_agent_text_makes_no_mention() {
        check(
            "<!here> <!channel> <@U123> <#C1|x> <!subteam^S1>",
            "&lt;!here> &lt;!channel> &lt;@U123> &lt;#C1|x> &lt;!subteam^S1>",
        );
        check("`<@U123>`", "`&lt;@U123>`");
        check("<<!here>", "<&lt;!here>");
    }

    #[test]
    fn msg_088_mention_links_work_for_allowed_ids_only() {
        check("Hi [Ann](mention:U123)!", "Hi <@U123>!");
        check("Hi [Ann](mention:U999)!", "Hi [Ann](mention:U999)!");
        check("`[Ann](mention:U123)`", "`[Ann](mention:U123)`");
        check("漢 **[A *n*](mention:U123)**, [b](mention:U123)", "漢 **<@U123>**, <@U123>");
        check("[x](mention:here)", "[x](mention:here)");
    }
}
