//! The disk's own speed: append 4 KiB and sync, over and over.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::quantile::{count, median, quantile};

const BLOCK: [u8; 4096] = [0x5a; 4096];
/// Appends of a full measurement.
pub(crate) const SYNCS: usize = 2_000;

/// How long one append with `fdatasync` takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Floor {
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    /// Syncs a second.
    pub(crate) rate: f64,
}

impl Floor {
    /// Measures in the folder, one right after the other.
    pub(crate) fn measure(folder: &Path, syncs: usize) -> anyhow::Result<Self> {
        Self::paced(folder, syncs, Duration::ZERO)
    }

    /// Measures in the folder, one begun in every `gap`: a disk that rests between two syncs answers later.
    pub(crate) fn paced(folder: &Path, syncs: usize, gap: Duration) -> anyhow::Result<Self> {
        let mut file = tempfile::tempfile_in(folder)?;
        let mut times = Vec::with_capacity(syncs);
        let all = Instant::now();
        for _ in 0..syncs {
            let one = Instant::now();
            file.write_all(&BLOCK)?;
            file.sync_data()?;
            times.push(one.elapsed());
            std::thread::sleep(gap.saturating_sub(one.elapsed()));
        }
        let rate = count(syncs) / all.elapsed().as_secs_f64();
        Ok(Floor { p50: median(&times), p99: quantile(&times, 0.99), rate })
    }
}
