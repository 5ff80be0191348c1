//! PB-7: memory and open files do not grow with the number of messages.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::sends::send_one;
use crate::floor::{Floor, SYNCS};
use crate::machine::resident_bytes;
use crate::options::Options;
use crate::report;
use crate::world::World;

const GROWTH_MAX: u64 = 5 * 1024 * 1024;
const WAL_MAX: u64 = 68 * 1024 * 1024;
/// Steps of the run; the first is the mark.
const STEPS: usize = 10;
/// Of so many messages one is answered.
const ANSWERED: usize = 50;

/// Measures it on the store of this process.
pub(crate) async fn measure(options: &Options) -> anyhow::Result<()> {
    let home = tempfile::tempdir()?;
    let floor = Floor::measure(home.path(), SYNCS)?;
    let world = Arc::new(World::new(home.path(), options.seed).await?);
    let step = options.messages / STEPS;
    let (mut mark, mut files) = (0, 0);
    for n in 0..STEPS {
        world.fill(n * step, (n + 1) * step).await?;
        let fence = world.fence().await?;
        for answered in (n * step..(n + 1) * step).step_by(ANSWERED) {
            send_one(&world, fence, answered).await?;
        }
        if n == 0 {
            (mark, files) = (resident_bytes("self"), open_files());
        }
    }
    let (end, files_end) = (resident_bytes("self"), open_files());
    let wal = wal_bytes(home.path());
    let ok = end <= mark + GROWTH_MAX && files_end <= files && wal <= WAL_MAX;
    let words = format!(
        "resident {} MiB at 10 %, {} MiB after {} messages (<= +5 MiB); files {files} -> {files_end}; log {} MiB",
        mark >> 20,
        end >> 20,
        options.messages,
        wal >> 20
    );
    let values = json!({
        "messages": options.messages, "seed": options.seed, "rss_at_10_percent": mark, "rss_end": end,
        "files_at_10_percent": files, "files_end": files_end, "wal_bytes": wal,
    });
    report::figure("pb-7", &words, ok, &values, Some(floor));
    Ok(())
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

fn wal_bytes(home: &Path) -> u64 {
    std::fs::metadata(home.join("db/loom.db-wal")).map_or(0, |file| file.len())
}
