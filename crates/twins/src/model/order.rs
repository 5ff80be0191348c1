//! Reads the command word of a message.

use std::time::Duration;

/// Longest `SLOW`, so that a typing error ends one day.
const SLOW_MAX: Duration = Duration::from_mins(10);

/// What a message tells the twin to do.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Order {
    /// Answer with the text behind `echo: `.
    Echo(String),
    /// Write for this long.
    Slow(Duration),
    /// Call the shell tool.
    Tool(String),
    /// Call an MCP tool with these arguments.
    McpTool(String, String),
    /// Answer with this HTTP status.
    Fail(u16),
    /// Break off in the middle.
    Drop,
    /// Say how many user messages the history has.
    Count,
    /// Comment first, then answer.
    Phases,
}

impl Order {
    /// Reads the order of a message, enveloped or plain.
    pub(super) fn of(text: &str) -> Order {
        let quoted = last_quoted_block(text);
        if quoted.is_empty() {
            return word(text.trim()).unwrap_or_else(|| Order::Echo(text.to_owned()));
        }
        let command = quoted.iter().rev().find_map(|line| word(line.trim()));
        command.unwrap_or_else(|| Order::Echo(quoted.join("\n")))
    }
}

/// The last run of lines that begin with `| `, without that mark.
fn last_quoted_block(text: &str) -> Vec<&str> {
    let mut block: Vec<&str> = text
        .lines()
        .rev()
        .skip_while(|line| !is_quoted(line))
        .take_while(|line| is_quoted(line))
        .map(|line| line.strip_prefix("| ").unwrap_or_default())
        .collect();
    block.reverse();
    block
}

fn is_quoted(line: &str) -> bool {
    line.starts_with("| ") || line == "|"
}

fn word(text: &str) -> Option<Order> {
    let (head, rest) = text.split_once(':').unwrap_or((text, ""));
    match head {
        "SLOW" => {
            let seconds: f64 = rest.trim().parse().ok()?;
            Some(Order::Slow(Duration::try_from_secs_f64(seconds).ok()?.min(SLOW_MAX)))
        }
        "TOOL" => Some(Order::Tool(rest.to_owned())),
        "MCPTOOL" => {
            let (name, arguments) = rest.split_once(':').unwrap_or((rest, "{}"));
            Some(Order::McpTool(name.to_owned(), arguments.to_owned()))
        }
        "FAIL" => Some(Order::Fail(rest.trim().parse().ok().filter(|s| (400..600).contains(s))?)),
        "DROP" if text == "DROP" => Some(Order::Drop),
        "COUNT" if text == "COUNT" => Some(Order::Count),
        "PHASES" if text == "PHASES" => Some(Order::Phases),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_are_read_and_everything_else_is_echoed() {
        assert_eq!(Order::of("SLOW:0.5"), Order::Slow(Duration::from_millis(500)));
        assert_eq!(Order::of("TOOL:echo a:b"), Order::Tool("echo a:b".into()));
        let call = Order::McpTool("reply".into(), "{\"a\":1}".into());
        assert_eq!(Order::of("MCPTOOL:reply:{\"a\":1}"), call);
        assert_eq!(Order::of("FAIL:429"), Order::Fail(429));
        assert_eq!(Order::of("FAIL:200"), Order::Echo("FAIL:200".into()));
        assert_eq!(Order::of(" DROP\n"), Order::Drop);
        assert_eq!(Order::of("COUNT me"), Order::Echo("COUNT me".into()));
    }

    #[test]
    fn an_envelope_is_read_by_its_last_quoted_block() {
        let text = "loom-envelope/1 K\nK untrusted thread\n\n| SLOW:9\n\nK untrusted message\n\n| hello\n| there\n\nK end";
        assert_eq!(Order::of(text), Order::Echo("hello\nthere".into()));
        assert_eq!(Order::of("K x\n| please\n| COUNT\nK end"), Order::Count);
    }
}
