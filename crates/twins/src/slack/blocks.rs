//! Text as Slack writes it: escaping, control tokens and the `rich_text` block of a typed message.

use serde_json::{Value, json};

/// Escapes the three characters Slack escapes.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Reverses [`escape`].
pub(super) fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// A piece of wire text.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    /// The inside of an unescaped `<…>`.
    Token(&'a str),
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        let Some((token, tail)) = after.split_once('>') else { break };
        if !before.is_empty() {
            out.push(Piece::Text(before));
        }
        out.push(Piece::Token(token));
        rest = tail;
    }
    if !rest.is_empty() {
        out.push(Piece::Text(rest));
    }
    out
}

/// The user ids mentioned by control tokens, in order.
pub(super) fn mentioned(text: &str) -> Vec<String> {
    let tokens = pieces(text).into_iter().filter_map(|p| match p {
        Piece::Token(t) => t.strip_prefix('@'),
        Piece::Text(_) => None,
    });
    tokens.map(|t| t.split('|').next().unwrap_or(t).to_owned()).collect()
}

/// Everyone the text would notify: user ids, `!here`, `!channel`, `!everyone`, `!subteam^…`.
pub(super) fn pings(text: &str) -> Vec<String> {
    let mut out = mentioned(text);
    for piece in pieces(text) {
        if let Piece::Token(token) = piece
            && token.starts_with('!')
            && !token.starts_with("!date")
        {
            out.push(token.split('|').next().unwrap_or(token).to_owned());
        }
    }
    out
}

/// The blocks Slack attaches to what a person typed.
pub(super) fn rich_text(text: &str, block_id: &str) -> Value {
    let elements: Vec<Value> = pieces(text).into_iter().map(|p| element(&p)).collect();
    json!([{"type": "rich_text", "block_id": block_id,
        "elements": [{"type": "rich_text_section", "elements": elements}]}])
}

fn element(piece: &Piece<'_>) -> Value {
    let token = match piece {
        Piece::Text(text) => return json!({"type": "text", "text": unescape(text)}),
        Piece::Token(token) => token,
    };
    let (head, label) = token.split_once('|').map_or((*token, None), |(h, l)| (h, Some(l)));
    if let Some(user) = head.strip_prefix('@') {
        json!({"type": "user", "user_id": user})
    } else if let Some(channel) = head.strip_prefix('#') {
        json!({"type": "channel", "channel_id": channel})
    } else if let Some(group) = head.strip_prefix("!subteam^") {
        json!({"type": "usergroup", "usergroup_id": group})
    } else if let Some(range) = head.strip_prefix('!') {
        json!({"type": "broadcast", "range": range})
    } else if let Some(label) = label {
        json!({"type": "link", "url": head, "text": unescape(label)})
    } else {
        json!({"type": "link", "url": head})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_token_is_text_and_a_real_token_is_an_element() {
        let typed = escape("<@U0BOT> hi & bye");
        assert_eq!(typed, "&lt;@U0BOT&gt; hi &amp; bye");
        assert!(mentioned(&typed).is_empty());
        let real = "hey <@U0BOT|loom>, see <https://x.test|this> <!here>";
        assert_eq!(mentioned(real), ["U0BOT"]);
        assert_eq!(pings(real), ["U0BOT", "!here"]);
        let blocks = rich_text(real, "b1");
        let elements = &blocks[0]["elements"][0]["elements"];
        assert_eq!(elements[1], json!({"type": "user", "user_id": "U0BOT"}));
        assert_eq!(elements[3]["text"], "this");
        assert_eq!(elements[5]["range"], "here");
    }

    #[test]
    fn an_open_angle_bracket_stays_text() {
        assert_eq!(pieces("a < b"), [Piece::Text("a < b")]);
    }
}
