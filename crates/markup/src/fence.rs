//! Code fences, found line by line.

/// An opening fence line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fence {
    /// Indentation and quote marks; a list marker counts as the spaces it takes.
    prefix: String,
    mark: char,
    run: usize,
    info: String,
}

impl Fence {
    /// The line that opens this fence again, with its line end.
    pub(crate) fn open_line(&self) -> String {
        format!("{}{}{}\n", self.prefix, self.marks(), self.info)
    }

    /// The line that closes this fence, without a line end.
    pub(crate) fn close_line(&self) -> String {
        format!("{}{}", self.prefix, self.marks())
    }

    fn marks(&self) -> String {
        String::from(self.mark).repeat(self.run)
    }

    /// Reads a line as an opening fence.
    pub(crate) fn opening(line: &str) -> Option<Fence> {
        let (prefix, rest) = split_prefix(line.trim_end_matches(['\n', '\r']));
        let (mark, run) = mark_run(rest)?;
        let info = rest.get(run..)?;
        if mark == '`' && info.contains('`') {
            return None;
        }
        Some(Fence { prefix, mark, run, info: info.trim_end().to_owned() })
    }

    /// Whether a line closes this fence.
    pub(crate) fn is_closed_by(&self, line: &str) -> bool {
        let rest = line.trim_start_matches([' ', '\t', '>']);
        mark_run(rest).is_some_and(|(mark, run)| {
            mark == self.mark
                && run >= self.run
                && rest.get(run..).is_some_and(|after| after.trim().is_empty())
        })
    }
}

/// Whether a line would be read as a fence line in any state.
pub(crate) fn looks_like_fence(line: &str) -> bool {
    let (_, rest) = split_prefix(line);
    mark_run(rest).is_some()
}

fn mark_run(rest: &str) -> Option<(char, usize)> {
    let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let run = rest.chars().take_while(|c| *c == mark).count();
    (run >= 3).then_some((mark, run))
}

/// Splits indentation, quote marks and one list marker from a line.
fn split_prefix(line: &str) -> (String, &str) {
    let rest = line.trim_start_matches([' ', '\t', '>']);
    let lead = line.get(..line.len() - rest.len()).unwrap_or("");
    let marker = list_marker(rest);
    let spaces = " ".repeat(marker);
    (format!("{lead}{spaces}"), rest.get(marker..).unwrap_or(rest))
}

fn list_marker(rest: &str) -> usize {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let sign = rest.as_bytes().get(digits).copied();
    let is_marker = match sign {
        Some(b'-' | b'*' | b'+') => digits == 0,
        Some(b'.' | b')') => (1..=9).contains(&digits),
        _ => false,
    };
    if !is_marker {
        return 0;
    }
    let spaces = rest.bytes().skip(digits + 1).take_while(|b| *b == b' ').count();
    if (1..=4).contains(&spaces) { digits + 1 + spaces } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_info_string_is_kept_and_a_code_span_is_no_fence() {
        let fence = Fence::opening("```rust ignore\n").unwrap();
        assert_eq!(fence.open_line(), "```rust ignore\n");
        assert_eq!(fence.close_line(), "```");
        assert!(Fence::opening("```a``` b").is_none());
        assert!(fence.is_closed_by("  ````  \n"));
        assert!(!fence.is_closed_by("``` x\n") && !fence.is_closed_by("~~~\n"));
    }

    #[test]
    fn a_fence_in_a_list_reopens_under_the_item() {
        let fence = Fence::opening("1. ~~~sh\n").unwrap();
        assert_eq!(fence.open_line(), "   ~~~sh\n");
        assert_eq!(Fence::opening("> ```\n").unwrap().close_line(), "> ```");
    }
}
