//! Gauges of the process, read from the kernel when asked for.

use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

const KIB: i64 = 1024;

pub(super) struct Gauges {
    resident_bytes: Gauge,
    open_fds: Gauge,
    pub(super) start: Gauge<f64, AtomicU64>,
}

impl Gauges {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let gauges =
            Gauges { resident_bytes: Gauge::default(), open_fds: Gauge::default(), start: Gauge::default() };
        registry.register_with_unit("resident", "Memory in use", Unit::Bytes, gauges.resident_bytes.clone());
        registry.register("open_fds", "Open file descriptors", gauges.open_fds.clone());
        registry.register_with_unit(
            "start",
            "Time until the hub served",
            Unit::Seconds,
            gauges.start.clone(),
        );
        gauges
    }

    pub(super) fn refresh(&self) {
        if let Some(bytes) = resident_bytes() {
            self.resident_bytes.set(bytes);
        }
        if let Ok(entries) = std::fs::read_dir("/proc/self/fd") {
            self.open_fds.set(i64::try_from(entries.count()).unwrap_or(i64::MAX));
        }
    }
}

fn resident_bytes() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: i64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    kib.checked_mul(KIB)
}
