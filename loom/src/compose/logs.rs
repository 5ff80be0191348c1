//! Logs: NDJSON in the data directory, a human line on stderr; both behind the redactor.

use std::io::{self, Write};

use loom_domain::{Error, Result};
use loom_hub::{Config, home::Home};
use loom_secrets::{Profile, Redactor};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{
    EnvFilter, Layer as _, fmt::MakeWriter, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

/// Lines that wait for the disk; what is beyond is dropped. Their places are taken at the start.
const WAITING_LINES_MAX: usize = 8_192;

/// Keeps the log writer alive; dropping it writes what is left.
pub(crate) struct Guard {
    _file: WorkerGuard,
}

/// Starts logging of this process. A second hub in one process logs with the first.
pub(super) fn start(home: &Home, config: &Config, redactor: Redactor, talks: bool) -> Result<Guard> {
    let keep = usize::try_from(config.retention.log_days.max(1)).unwrap_or(14);
    let appender = tracing_appender::rolling::Builder::new()
        .rotation(tracing_appender::rolling::Rotation::DAILY)
        .filename_prefix("loom")
        .filename_suffix("ndjson")
        .max_log_files(keep)
        .build(home.join("logs"))
        .map_err(Error::internal)?;
    let (writer, guard) =
        NonBlockingBuilder::default().buffered_lines_limit(WAITING_LINES_MAX).finish(appender);
    let filter = || EnvFilter::try_new(&config.log.level).map_err(|cause| Error::invalid("log.level", cause));
    let file = tracing_subscriber::fmt::layer()
        .json()
        .with_writer(Redacting { redactor: redactor.clone(), writer })
        .with_filter(filter()?);
    let people = if talks {
        let layer = tracing_subscriber::fmt::layer()
            .compact()
            .with_ansi(false)
            .with_target(false)
            .with_writer(Redacting { redactor, writer: Stderr });
        Some(layer.with_filter(filter()?))
    } else {
        None
    };
    let _ = tracing_subscriber::registry().with(file).with(people).try_init();
    Ok(Guard { _file: guard })
}

/// Standard error, opened at each record.
#[derive(Debug, Clone, Copy)]
struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stderr().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Writes each record through the redactor, one line whole.
#[derive(Debug, Clone)]
struct Redacting<W> {
    redactor: Redactor,
    writer: W,
}

impl<'a, W: Write + Clone + 'a> MakeWriter<'a> for Redacting<W> {
    type Writer = Record<W>;
    fn make_writer(&'a self) -> Self::Writer {
        Record { redactor: self.redactor.clone(), writer: self.writer.clone(), bytes: Vec::new() }
    }
}

/// One record.
struct Record<W: Write> {
    redactor: Redactor,
    writer: W,
    bytes: Vec<u8>,
}

impl<W: Write> Write for Record<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write> Drop for Record<W> {
    fn drop(&mut self) {
        let text = self.redactor.redact_bytes(&self.bytes, Profile::Store);
        let _ = self.writer.write_all(text.as_bytes()).and_then(|()| self.writer.flush());
    }
}
