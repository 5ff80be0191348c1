//! Redaction of a stream, whatever its chunks.

use std::io::{self, Write};
use std::sync::Arc;

use super::scan::{Engine, Span};
use super::{Redactor, Report, withheld};
use crate::Profile;

/// Bytes before a place that a rule may look at.
const LOOKBEHIND_BYTES: usize = 1024;
/// New bytes that are scanned at once, at least.
const WORK_BYTES: usize = 128 * 1024;

/// Masks what is written through it. It holds back the end of the text, as far as a hit may reach, until
/// more comes or [`RedactWriter::finish`] is called.
pub struct RedactWriter<W: Write> {
    inner: Option<W>,
    redactor: Redactor,
    profile: Profile,
    report: Report,
    /// Context that is already written, then text that waits.
    buffer: Vec<u8>,
    context: usize,
    span: Option<Span>,
    withheld: u64,
}

impl<W: Write> RedactWriter<W> {
    /// Wraps a sink.
    pub fn new(inner: W, redactor: &Redactor, profile: Profile) -> Self {
        RedactWriter {
            inner: Some(inner),
            redactor: redactor.clone(),
            profile,
            report: Report::default(),
            buffer: Vec::new(),
            context: 0,
            span: None,
            withheld: 0,
        }
    }

    /// Writes what was held back, and returns the sink with the report.
    pub fn finish(mut self) -> io::Result<(W, Report)> {
        self.complete()?;
        let report = std::mem::take(&mut self.report);
        let inner = self.inner.take().ok_or_else(|| io::Error::other("the sink is gone"))?;
        Ok((inner, report))
    }

    fn complete(&mut self) -> io::Result<()> {
        let engine = self.redactor.engine();
        self.scan_to(&engine, self.buffer.len(), true)?;
        if let Some(span) = self.span.take() {
            self.mark(&span)?;
        }
        self.flush_withheld()
    }

    fn scan_ready(&mut self) -> io::Result<()> {
        let engine = self.redactor.engine();
        let overlap = engine.overlap_bytes();
        let waiting = self.buffer.len() - self.context;
        if waiting < overlap + WORK_BYTES.max(overlap) {
            return Ok(());
        }
        let cut = character_start(&self.buffer, self.buffer.len() - overlap);
        self.scan_to(&engine, cut, false)?;
        let gone = cut.saturating_sub(LOOKBEHIND_BYTES);
        self.buffer.drain(..gone);
        self.context = cut - gone;
        if let Some(span) = &mut self.span {
            span.end -= gone;
        }
        Ok(())
    }

    /// Writes the text up to the cut; hits that begin after it are found again next time.
    fn scan_to(&mut self, engine: &Arc<Engine>, cut: usize, last: bool) -> io::Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        if let Some(span) = &mut self.span {
            span.follow(&buffer);
        }
        let hits = engine.raw_hits(&buffer, self.profile);
        let context = self.context;
        let mut from = context;
        for hit in hits.iter().filter(|hit| hit.start >= context && hit.start < cut) {
            match self.span.as_mut() {
                Some(span) if span.covers_start(hit) => span.absorb(&buffer, hit),
                _ => {
                    from = self.close_span(from)?;
                    self.emit(buffer.get(from..hit.start).unwrap_or_default())?;
                    from = hit.start;
                    self.span = Some(Span::new(hit));
                }
            }
        }
        if last || self.span.as_ref().is_none_or(|span| span.end <= cut && !span.is_open()) {
            from = self.close_span(from)?;
            self.emit(buffer.get(from..cut).unwrap_or_default())?;
        }
        self.buffer = buffer;
        Ok(())
    }

    /// Writes the marker of the span and returns the place after it.
    fn close_span(&mut self, from: usize) -> io::Result<usize> {
        let Some(span) = self.span.take() else { return Ok(from) };
        self.mark(&span)?;
        Ok(span.end.max(from))
    }

    fn mark(&mut self, span: &Span) -> io::Result<()> {
        self.flush_withheld()?;
        self.report.count(span.rule);
        self.put(span.rule.marker().as_bytes())
    }

    /// Writes text; what is not UTF-8 is withheld and counted.
    fn emit(&mut self, text: &[u8]) -> io::Result<()> {
        if std::str::from_utf8(text).is_ok() && !text.is_empty() {
            self.flush_withheld()?;
            return self.put(text);
        }
        for chunk in text.utf8_chunks() {
            if !chunk.valid().is_empty() {
                self.flush_withheld()?;
                self.put(chunk.valid().as_bytes())?;
            }
            self.withheld += chunk.invalid().len() as u64;
        }
        Ok(())
    }

    fn flush_withheld(&mut self) -> io::Result<()> {
        match std::mem::take(&mut self.withheld) {
            0 => Ok(()),
            bytes => self.put(withheld(bytes).as_bytes()),
        }
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.inner.as_mut().map_or(Ok(()), |inner| inner.write_all(bytes))
    }
}

impl<W: Write> Write for RedactWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = bytes.get(..bytes.len().min(WORK_BYTES)).unwrap_or_default();
        self.buffer.extend_from_slice(piece);
        self.scan_ready()?;
        Ok(piece.len())
    }

    /// Flushes the sink. The end of the text stays held back: what follows may complete a secret.
    fn flush(&mut self) -> io::Result<()> {
        self.inner.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl<W: Write> Drop for RedactWriter<W> {
    fn drop(&mut self) {
        if self.inner.is_some() {
            // A sink that fails here has no one left to tell.
            let _ = self.complete();
        }
    }
}

impl<W: Write> std::fmt::Debug for RedactWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedactWriter").field("profile", &self.profile).finish_non_exhaustive()
    }
}

/// The place, or the start of the character that it would split.
fn character_start(text: &[u8], at: usize) -> usize {
    let continues = |at: usize| text.get(at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    (at.saturating_sub(3)..=at).rev().find(|at| !continues(*at)).unwrap_or(at)
}
