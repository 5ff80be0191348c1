//! The lines of a text with the fence each stands in.

use crate::Limit;
use crate::fence::Fence;

/// One line with its line end.
pub(super) struct Line {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_fence: bool,
    pub(super) is_blank: bool,
    /// Index of the fence that is open before the line.
    pub(super) before: Option<usize>,
    /// Index of the fence that is open after the line.
    pub(super) after: Option<usize>,
}

/// All lines and fences of a text.
pub(super) struct Lines {
    lines: Vec<Line>,
    fences: Vec<Fence>,
}

impl Lines {
    /// Reads a text. A fence line longer than a quarter of the limit counts as text, so that a reopened
    /// fence always leaves room for content.
    pub(super) fn read(text: &str, limit: Limit) -> Lines {
        let mut this = Lines { lines: Vec::new(), fences: Vec::new() };
        let mut open: Option<usize> = None;
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let before = open;
            let is_short = limit.unit.of(line) <= limit.size() / 4;
            open = if is_short { this.after(line, open) } else { open };
            let end = start + line.len();
            let is_blank = line.trim().is_empty();
            this.lines.push(Line { start, end, is_fence: before != open, is_blank, before, after: open });
            start = end;
        }
        this
    }

    fn after(&mut self, line: &str, open: Option<usize>) -> Option<usize> {
        if let Some(fence) = open.and_then(|index| self.fences.get(index)) {
            return if fence.is_closed_by(line) { None } else { open };
        }
        let fence = Fence::opening(line)?;
        self.fences.push(fence);
        Some(self.fences.len() - 1)
    }

    /// Lines that overlap the range.
    pub(super) fn within(&self, start: usize, end: usize) -> &[Line] {
        let from = self.lines.partition_point(|line| line.end <= start);
        let to = self.lines.partition_point(|line| line.start < end);
        self.lines.get(from..to).unwrap_or(&[])
    }

    /// The line that starts at an offset.
    pub(super) fn starting_at(&self, offset: usize) -> Option<&Line> {
        let index = self.lines.partition_point(|line| line.start < offset);
        self.lines.get(index).filter(|line| line.start == offset)
    }

    /// The line that has the offset strictly inside.
    pub(super) fn around(&self, offset: usize) -> Option<&Line> {
        let index = self.lines.partition_point(|line| line.end <= offset);
        self.lines.get(index).filter(|line| line.start < offset)
    }

    /// The fence that is open at an offset.
    pub(super) fn fence_at(&self, offset: usize) -> Option<&Fence> {
        let index = self.lines.partition_point(|line| line.end <= offset);
        let open = match self.lines.get(index) {
            Some(line) => line.before,
            None => self.lines.last().and_then(|line| line.after),
        };
        open.and_then(|index| self.fences.get(index))
    }
}
