//! Cleans a final answer before it is sent (messaging specification 4.4): reasoning, tool markup, heartbeat
//! tokens and scaffolding go; code stays as it is; nothing left is an empty answer.

mod scan;

use scan::Scanner;

/// Words with which a model says that it has nothing to say.
pub const HEARTBEAT_TOKENS: &[&str] = &["HEARTBEAT_OK", "NO_REPLY", "NO_ANSWER", "SILENT_REPLY"];

/// The answer as people may see it; empty when nothing is left.
#[must_use]
pub fn clean(answer: &str) -> String {
    let text = Scanner::new(answer).run();
    let kept: Vec<&str> = text.lines().filter(|line| !is_heartbeat(line)).collect();
    without_edge_tokens(kept.join("\n").trim()).trim().to_owned()
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '*' | '`' | '.' | '!' | '"' | '[' | ']' | '(' | ')')
    })
}

fn is_heartbeat(line: &str) -> bool {
    HEARTBEAT_TOKENS.contains(&bare(line))
}

/// Takes tokens off the very start and end, where models leave them beside real words.
fn without_edge_tokens(text: &str) -> &str {
    let mut text = text;
    loop {
        let first = text.split_whitespace().next().unwrap_or("");
        let last = text.split_whitespace().next_back().unwrap_or("");
        text = if is_heartbeat(last) && !last.is_empty() {
            text.trim_end().strip_suffix(last).unwrap_or("").trim_end()
        } else if is_heartbeat(first) && !first.is_empty() {
            text.trim_start().strip_prefix(first).unwrap_or("").trim_start()
        } else {
            return text;
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn msg_150_only_the_final_answer_is_left() {
        for (answer, want) in [
            ("<think>hm\n```\nx\n```</think>\nYes.", "Yes."),
            ("let me see</think>Yes.", "Yes."),
            ("Yes.<thinking>never closed", "Yes."),
            ("<THINK>a<think>b</think>c</THINK>Yes.", "Yes."),
            ("<tool_call>{\"name\":\"x\"}</tool_call>\nDone", "Done"),
            ("<function_calls><invoke name=\"a\">b</invoke></function_calls>Done", "Done"),
            ("<|channel|>analysis<|message|>secret<|end|><|channel|>final<|message|>Done<|return|>", "Done"),
            ("<final>Done</final>", "Done"),
            ("All good.\nHEARTBEAT_OK", "All good."),
            ("NO_REPLY Hello", "Hello"),
            ("Say `NO_REPLY` or <b>bold</b> if a < b", "Say `NO_REPLY` or <b>bold</b> if a < b"),
            ("```html\n<think>shown</think>\n```", "```html\n<think>shown</think>\n```"),
            ("Use `<think>` tags", "Use `<think>` tags"),
            ("price < 5 & more", "price < 5 & more"),
        ] {
            assert_eq!(clean(answer), want, "{answer}");
        }
    }

    #[test]
    fn msg_150_nothing_left_is_empty() {
        for answer in [
            "",
            " \n",
            "HEARTBEAT_OK",
            "**NO_REPLY**.",
            "<think>all of it</think>",
            "<think>open",
            "HEARTBEAT_OK NO_REPLY",
        ] {
            assert_eq!(clean(answer), "", "{answer}");
        }
    }

    proptest! {
        #[test]
        fn msg_150_cleaning_is_total_and_keeps_plain_text(text in "[a-zA-Z0-9 .,\n]{0,80}", any in "\\PC{0,60}") {
            prop_assert_eq!(clean(&text), text.trim());
            let once = clean(&any);
            prop_assert!(once.len() <= any.len());
        }
    }
}
