//! Facts of the machine and of processes, from `/proc`.

use std::path::Path;
use std::time::Duration;

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

/// Clock ticks a second; fixed on Linux for user space.
const TICKS: f64 = 100.0;
/// Load per core above which figures are told with a warning.
const LOAD_MAX: f64 = 0.5;

/// Load of the last minute and cores.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) minute: f64,
    pub(crate) cores: usize,
}

impl Load {
    /// Reads it.
    pub(crate) fn now() -> Self {
        let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let minute = text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0.0);
        Load { minute, cores: std::thread::available_parallelism().map_or(1, usize::from) }
    }

    /// Whether others use the machine.
    pub(crate) fn is_loaded(self) -> bool {
        self.minute > LOAD_MAX * crate::quantile::count(self.cores)
    }
}

/// Resident bytes of a process; `self` is this one.
pub(crate) fn resident_bytes(process: &str) -> u64 {
    status_bytes(process, "VmRSS:")
}

/// Most bytes that a process had resident so far.
pub(crate) fn peak_bytes(process: &str) -> u64 {
    status_bytes(process, "VmHWM:")
}

fn status_bytes(process: &str, field: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    line.split_whitespace().next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0) * 1_024
}

/// Has a program that nobody runs read from the disk again. The kernel maps the pages of a file that was just written in
/// larger pieces than those of one that was read, and counts all of a piece.
pub(crate) fn forget_pages(program: &Path) -> anyhow::Result<()> {
    let file = std::fs::File::open(program)?;
    file.sync_all()?;
    posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?;
    Ok(())
}

/// Processor time of this process outside the kernel.
pub(crate) fn user_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks =
        after_name.split_whitespace().nth(11).and_then(|word| word.parse::<f64>().ok()).unwrap_or(0.0);
    Duration::from_secs_f64(ticks / TICKS)
}
