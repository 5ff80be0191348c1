//! The command line.

use anyhow::{Context as _, bail};

/// What to measure and how long.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// Figures, in order.
    pub(crate) names: Vec<String>,
    /// Length of the steady load of PB-1 and of the rest of PB-6.
    pub(crate) seconds: u64,
    /// Stored messages of the large store in PB-5, PB-7 and PB-8.
    pub(crate) messages: usize,
    /// Outbox items of PB-3; PB-4 takes a twentieth.
    pub(crate) items: usize,
    /// Runs of which the median is told.
    pub(crate) runs: usize,
    /// Seed of everything generated.
    pub(crate) seed: u64,
}

/// Every figure.
pub(crate) const NAMES: &[&str] =
    &["pb-1", "pb-3", "pb-4", "pb-5", "pb-6", "pb-7", "pb-8", "pb-9", "pb-14", "pb-15"];

impl Options {
    /// Reads the arguments.
    pub(crate) fn read(mut arguments: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut options =
            Options { names: Vec::new(), seconds: 10, messages: 100_000, items: 20_000, runs: 5, seed: 1 };
        while let Some(word) = arguments.next() {
            let mut number = || -> anyhow::Result<u64> {
                let text = arguments.next().with_context(|| format!("{word} needs a number"))?;
                text.parse().with_context(|| format!("{word} {text}"))
            };
            match word.as_str() {
                "--seconds" => options.seconds = number()?.max(1),
                "--messages" => options.messages = usize::try_from(number()?)?.max(1_000),
                "--items" => options.items = usize::try_from(number()?)?.max(100),
                "--runs" => options.runs = usize::try_from(number()?)?.max(1),
                "--seed" => options.seed = number()?,
                "all" => options.names.extend(NAMES.iter().map(|name| (*name).to_owned())),
                name if NAMES.contains(&name) => options.names.push(word),
                _ => bail!("unknown word {word}; figures are {} or all", NAMES.join(", ")),
            }
        }
        if options.names.is_empty() {
            options.names.extend(NAMES.iter().map(|name| (*name).to_owned()));
        }
        Ok(options)
    }
}
