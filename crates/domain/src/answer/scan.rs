//! One pass over an answer that copies text and code and leaves out marked blocks.

use crate::text::prefix;

/// Tags whose whole block goes.
const DROPPED: &[&str] = &[
    "think",
    "thinking",
    "thought",
    "reasoning",
    "reflection",
    "analysis",
    "commentary",
    "scratchpad",
    "inner_monologue",
    "tool_call",
    "tool_calls",
    "tool_use",
    "tool_result",
    "tool_response",
    "function_call",
    "function_calls",
    "function_results",
    "invoke",
    "system-reminder",
];
/// Tags of which only the tag itself goes.
const UNWRAPPED: &[&str] = &["final", "final_answer", "answer", "response"];
/// Longest special token such as `<|end|>`, bytes.
const TOKEN_BYTES_MAX: usize = 40;
/// Channels of special-token formats that are no answer.
const HIDDEN_CHANNELS: &[&str] = &["analysis", "commentary"];

pub(super) struct Scanner<'a> {
    rest: &'a str,
    out: String,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Scanner { rest: text, out: String::with_capacity(text.len()) }
    }

    pub(super) fn run(mut self) -> String {
        while let Some(c) = self.rest.chars().next() {
            let taken = match c {
                '`' | '~' => self.code(c),
                '<' => self.token() || self.tag(),
                _ => false,
            };
            if !taken {
                self.copy(c.len_utf8());
            }
        }
        self.out
    }

    fn skip(&mut self, bytes: usize) -> &'a str {
        let bytes = bytes.min(self.rest.len());
        let (head, tail) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = tail;
        head
    }

    fn copy(&mut self, bytes: usize) {
        let head = self.skip(bytes);
        self.out.push_str(head);
    }

    /// Copies a fenced block or a code span as it is.
    fn code(&mut self, mark: char) -> bool {
        let run: String = self.rest.chars().take_while(|c| *c == mark).collect();
        let at_line_start =
            self.out.trim_end_matches([' ', '\t']).ends_with('\n') || self.out.trim().is_empty();
        let is_fence = run.len() >= 3 && at_line_start;
        if !is_fence && mark == '~' {
            self.copy(run.len());
            return true;
        }
        let after = self.rest.get(run.len()..).unwrap_or("");
        let close = if is_fence {
            after.find(&format!("\n{run}")).map(|at| at + 1).or(Some(after.len()))
        } else {
            after.split("\n\n").next().and_then(|paragraph| paragraph.find(&run))
        };
        match close {
            Some(at) => self.copy((run.len() + at + run.len()).min(self.rest.len())),
            None => self.copy(run.len()),
        }
        true
    }

    /// Leaves out `<|…|>` tokens, and the message of a hidden channel.
    fn token(&mut self) -> bool {
        let Some(inner) = self.rest.strip_prefix("<|") else { return false };
        let Some(end) = prefix(inner, TOKEN_BYTES_MAX + 2).find("|>") else { return false };
        let word = inner.get(..end).unwrap_or("").to_owned();
        self.skip(end + 4);
        if word == "channel" {
            let name: String =
                self.rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            let is_hidden = HIDDEN_CHANNELS.contains(&name.as_str());
            let next = if is_hidden { self.rest.find("<|channel|>") } else { self.rest.find("<|message|>") };
            self.skip(next.unwrap_or(if is_hidden { self.rest.len() } else { name.len() }));
        }
        true
    }

    fn tag(&mut self) -> bool {
        let Some((name, is_close, bytes)) = tag_at(self.rest) else { return false };
        if UNWRAPPED.contains(&name.as_str()) && is_bare(bytes, &name, is_close) {
            self.skip(bytes);
            return true;
        }
        if !DROPPED.contains(&name.as_str()) {
            return false;
        }
        self.skip(bytes);
        if is_close {
            // A block whose opening was cut off: all before it was inside.
            self.out.clear();
        } else {
            self.skip_block(&name);
        }
        true
    }

    /// Skips to the end of a block, blocks of the same name inside it included; an open one takes the rest.
    fn skip_block(&mut self, name: &str) {
        let mut depth = 1u32;
        while let Some(at) = self.rest.find('<') {
            self.skip(at);
            match tag_at(self.rest) {
                Some((inner, is_close, bytes)) if inner == name => {
                    self.skip(bytes);
                    depth = if is_close { depth.saturating_sub(1) } else { depth.saturating_add(1) };
                }
                _ => drop(self.skip(1)),
            }
            if depth == 0 {
                return;
            }
        }
        self.rest = "";
    }
}

/// Whether a tag of that length holds its name and nothing else.
fn is_bare(bytes: usize, name: &str, is_close: bool) -> bool {
    bytes == name.len() + if is_close { 3 } else { 2 }
}

/// Name (lower case), whether it closes, and length of the tag that the text starts with.
fn tag_at(text: &str) -> Option<(String, bool, usize)> {
    let inner = text.strip_prefix('<')?;
    let (is_close, inner) = inner.strip_prefix('/').map_or((false, inner), |inner| (true, inner));
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name_bytes = inner.find(|c: char| !is_name(c)).unwrap_or(inner.len());
    let name = inner.get(..name_bytes).filter(|name| !name.is_empty())?.to_ascii_lowercase();
    let end = inner.find('>')?;
    let between = inner.get(name_bytes..end)?;
    let is_tag = between.is_empty() || between.starts_with([' ', '=', '\n', '/', ':']);
    is_tag.then_some((name, is_close, text.len() - inner.len() + end + 1))
}
