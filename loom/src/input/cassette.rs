//! Cassettes: answers of providers that are recorded once and played again.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use loom_domain::{Code, Error, Result};
use loom_transport::{RecordedBackend, TransportBuilder};

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
#[derive(Debug, Clone, Default, Args)]
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

/// A cassette that is being played.
#[derive(Debug, Default)]
pub(crate) struct Playing(Option<Arc<RecordedBackend>>);

impl Cassette {
    /// Puts the cassette into the transport. One that holds no answer of the host is `invalid_input`.
    pub(crate) fn insert(
        &self,
        builder: TransportBuilder,
        host: &str,
    ) -> Result<(TransportBuilder, Playing)> {
        let Some(path) = &self.cassette else { return Ok((builder, Playing::default())) };
        let tape = match self.cassette_mode {
            Mode::Record => return Ok((builder.record(path.clone()), Playing::default())),
            Mode::Replay => RecordedBackend::replay(path)?,
            Mode::ReplayStrict => RecordedBackend::replay_strict(path)?,
        };
        if !tape.hosts().iter().any(|recorded| recorded == host) {
            let message = format!("the cassette holds no answer of {host}");
            return Err(Error::new(Code::InvalidInput, message).with_detail("hosts", tape.hosts()));
        }
        let tape = Arc::new(tape);
        let strict = (self.cassette_mode == Mode::ReplayStrict).then(|| Arc::clone(&tape));
        Ok((builder.backend(tape), Playing(strict)))
    }
}

impl Playing {
    /// Refuses a strict replay that did not come to its end.
    pub(crate) fn finish(&self) -> Result<()> {
        match self.0.as_ref().map_or(0, |tape| tape.left()) {
            0 => Ok(()),
            left => Err(Error::new(
                Code::ProviderNetworkError,
                format!("{left} answers of the cassette were not asked for"),
            )
            .with_detail("phase", "replay")),
        }
    }
}
