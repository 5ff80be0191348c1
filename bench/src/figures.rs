//! The figures, one file each.

mod accept;
mod commands;
mod flat;
mod idle;
mod memory;
mod redactor;
mod scan;
mod sends;
mod start;

use crate::options::Options;

/// Measures what was asked for, in order.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    for name in &options.names {
        match name.as_str() {
            "pb-1" => runtime.block_on(accept::measure(options))?,
            "pb-3" => runtime.block_on(sends::in_flight(options))?,
            "pb-4" => runtime.block_on(sends::serial(options))?,
            "pb-5" => runtime.block_on(flat::measure(options))?,
            "pb-6" => runtime.block_on(idle::measure(options))?,
            "pb-7" => runtime.block_on(memory::measure(options))?,
            "pb-8" => runtime.block_on(start::measure(options))?,
            "pb-9" => runtime.block_on(commands::measure(options))?,
            "pb-14" => redactor::measure(options)?,
            "pb-15" => runtime.block_on(scan::measure(options))?,
            other => anyhow::bail!("unknown figure {other}"),
        }
    }
    Ok(())
}
