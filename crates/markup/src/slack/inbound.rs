//! The text of a received message: control tokens first, then the three entities.

/// Longest control token; anything longer is text.
const TOKEN_BYTES_MAX: usize = 4_096;

/// A received text in plain form. `names` gives the display name of a user id; the leading mention of `bot` is
/// removed; links become `label (url)`.
pub fn from_slack(text: &str, bot: Option<&str>, names: impl Fn(&str) -> Option<String>) -> String {
    let mut rest = bot.map_or(text, |bot| without_leading_mention(text, bot));
    let mut out = String::with_capacity(rest.len());
    while let Some(at) = rest.find('<') {
        out.push_str(&unescape(rest.get(..at).unwrap_or("")));
        let after = rest.get(at + 1..).unwrap_or("");
        if let Some(inner) = token(after) {
            out.push_str(&render(inner, &names));
            rest = after.get(inner.len() + 1..).unwrap_or("");
        } else {
            out.push('<');
            rest = after;
        }
    }
    out.push_str(&unescape(rest));
    out
}

/// Whether the text is nothing but a mention of the bot.
pub fn is_bare_mention(text: &str, bot: &str) -> bool {
    let rest = without_leading_mention(text, bot);
    rest.len() != text.len() && rest.trim().is_empty()
}

fn without_leading_mention<'a>(text: &'a str, bot: &str) -> &'a str {
    let start = text.trim_start();
    let mention = start.strip_prefix("<@").and_then(|rest| rest.strip_prefix(bot));
    match mention.and_then(|rest| rest.split_once('>')) {
        Some((label, after)) if label.is_empty() || label.starts_with('|') => after.trim_start(),
        _ => text,
    }
}

fn token(after: &str) -> Option<&str> {
    let end = after.find('>').filter(|end| (1..=TOKEN_BYTES_MAX).contains(end))?;
    after.get(..end).filter(|inner| !inner.contains(['<', '\n']))
}

fn render(inner: &str, names: &impl Fn(&str) -> Option<String>) -> String {
    let (target, label) = match inner.split_once('|') {
        Some((target, label)) => (target, Some(label).filter(|label| !label.is_empty())),
        None => (inner, None),
    };
    let mut rest = target.chars();
    match rest.next() {
        Some('@') => {
            let id = rest.as_str();
            let name = names(id).or_else(|| label.map(unescape)).unwrap_or_else(|| id.to_owned());
            format!("@{}", name.trim_start_matches('@'))
        }
        Some('#') => format!("#{}", unescape(label.unwrap_or(rest.as_str()))),
        Some('!') => special(rest.as_str(), label),
        _ => link(&unescape(target), label.map(unescape)),
    }
}

fn special(target: &str, label: Option<&str>) -> String {
    let name = target.split('^').next().unwrap_or(target);
    match (name, label) {
        ("here" | "channel" | "everyone", _) => format!("@{name}"),
        (_, Some(label)) => unescape(label),
        ("subteam", None) => format!("@{}", target.split('^').nth(1).unwrap_or(name)),
        _ => format!("<!{target}>"),
    }
}

fn link(url: &str, label: Option<String>) -> String {
    let bare = url.strip_prefix("mailto:").unwrap_or(url);
    match label {
        Some(label) if label != url && label != bare => format!("{label} ({url})"),
        Some(label) => label,
        None => bare.to_owned(),
    }
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, want: &str) {
        let names = |id: &str| (id == "U1").then(|| "Ann 🦊".to_owned());
        assert_eq!(from_slack(text, Some("UBOT"), names), want, "{text}");
    }

    #[test]
    fn control_tokens_come_before_entities() {
        check("&lt;@U1&gt; &amp;lt; a &amp; b", "<@U1> &lt; a & b");
        check("<@U1> <@U2|bob> <@U3>", "@Ann 🦊 @bob @U3");
        check("<#C1|general> <#C2|> <#C3>", "#general #C2 #C3");
        check("<!here> <!channel|channel> <!subteam^S1|@docs> <!subteam^S1>", "@here @channel @docs @S1");
        check("<!date^1392734382^{date}|Feb 18>", "Feb 18");
        check("1 <\n> <", "1 <\n> <");
    }

    #[test]
    fn links_keep_label_and_address() {
        check("<https://e.org/?a=1&amp;b=2|site &lt;1&gt;>", "site <1> (https://e.org/?a=1&b=2)");
        check("<https://e.org> <https://e.org|https://e.org>", "https://e.org https://e.org");
        check("<mailto:a@e.org|a@e.org> <mailto:a@e.org|Ann>", "a@e.org Ann (mailto:a@e.org)");
    }

    /// MSG-102: a message that only mentions the bot is seen as that.
    #[test]
    fn msg_102_the_leading_mention_of_the_bot_is_removed() {
        check("<@UBOT> do it", "do it");
        check(" <@UBOT|loom>  do <@UBOT>", "do @UBOT");
        check("<@UBOT2> x", "@UBOT2 x");
        assert!(is_bare_mention(" <@UBOT> ", "UBOT") && !is_bare_mention("<@UBOT> x", "UBOT"));
        assert!(!is_bare_mention("  ", "UBOT"));
    }
}
