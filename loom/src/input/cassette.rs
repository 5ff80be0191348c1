//! Cassettes: answers of providers that are recorded once and played again.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use loom_domain::{Code, Error, Result};
use loom_transport::{RecordedBackend, Subject, TransportBuilder};
use serde_json::json;

/// What to do with the cassette.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Mode {
    /// Send, and record the answers.
    Record,
    /// Answer out of the cassette, in any order.
    #[default]
    Replay,
    /// Answer out of the cassette, in its order and to its end.
    ReplayStrict,
}

/// Which cassette to use.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub(crate) struct Cassette {
    /// File of recorded answers
    #[arg(long, value_name = "FILE")]
    cassette: Option<PathBuf>,
    /// What to do with it.
    #[arg(
        long,
        help = "What to do with it: record, replay or replay_strict",
        value_name = "MODE",
        value_enum,
        default_value = "replay",
        requires = "cassette",
        hide_default_value = true,
        hide_possible_values = true
    )]
    cassette_mode: Mode,
}

/// A cassette that is in use.
#[derive(Debug, Clone, Default)]
pub(crate) enum Tape {
    /// None is.
    #[default]
    Off,
    /// Answers are recorded.
    Recording(PathBuf, Subject),
    /// Answers come out of it.
    Playing(Arc<RecordedBackend>, Mode),
}

impl Cassette {
    /// What the words of a run say.
    pub(crate) fn of(file: Option<&str>, mode: Option<&str>) -> Result<Self> {
        let wrong = |why: &str| Error::new(Code::Usage, format!("--cassette-mode: {why}"));
        let read = |word: &str| {
            Mode::from_str(word, false).map_err(|_| wrong("expected record, replay or replay_strict"))
        };
        let mode = mode.map(read).transpose()?;
        if file.is_none() && mode.is_some() {
            return Err(wrong("needs --cassette FILE"));
        }
        Ok(Cassette { cassette: file.map(PathBuf::from), cassette_mode: mode.unwrap_or_default() })
    }

    /// Whether one is named.
    pub(crate) fn is_named(&self) -> bool {
        self.cassette.is_some()
    }

    /// Opens it. One that holds no answer of these hosts, or the answers of a run about something else, is
    /// `invalid_input`.
    pub(crate) fn open(&self, hosts: &[String], subject: &Subject) -> Result<Tape> {
        let Some(path) = &self.cassette else { return Ok(Tape::Off) };
        let tape = match self.cassette_mode {
            Mode::Record => return Ok(Tape::Recording(path.clone(), subject.clone())),
            Mode::Replay => RecordedBackend::replay(path)?,
            Mode::ReplayStrict => RecordedBackend::replay_strict(path)?,
        };
        let recorded = tape.hosts();
        if let Some(host) = hosts.first().filter(|_| !hosts.iter().any(|host| recorded.contains(host))) {
            let message = format!("the cassette holds no answer of {host}");
            return Err(Error::new(Code::InvalidInput, message).with_detail("hosts", recorded));
        }
        let subjects = tape.subjects();
        if !subject.is_empty() && !subjects.is_empty() && !subjects.contains(subject) {
            let message = "the cassette is of another run: it is about something else than the input";
            return Err(Error::new(Code::InvalidInput, message).with_detail("subjects", json!(subjects)));
        }
        Ok(Tape::Playing(Arc::new(tape), self.cassette_mode))
    }
}

impl Tape {
    /// Puts the cassette into the transport.
    pub(crate) fn insert(&self, builder: TransportBuilder) -> TransportBuilder {
        match self {
            Tape::Off => builder,
            Tape::Recording(path, subject) => builder.no_projections().record(path.clone(), subject.clone()),
            Tape::Playing(tape, _) => builder.no_projections().backend(Arc::<RecordedBackend>::clone(tape)),
        }
    }

    /// Refuses a strict replay that did not come to its end.
    pub(crate) fn finish(&self) -> Result<()> {
        let left = match self {
            Tape::Playing(tape, Mode::ReplayStrict) => tape.left(),
            _ => 0,
        };
        if left == 0 {
            return Ok(());
        }
        let message = format!("{left} answers of the cassette were not asked for");
        Err(Error::new(Code::ProviderNetworkError, message).with_detail("phase", "replay"))
    }
}
