//! One JSON line a figure on standard output, and a line for people on standard error.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::floor::Floor;
use crate::machine::Load;

/// Writes a figure: what was measured, its bound, and whether the bound holds.
pub(crate) fn figure(name: &str, words: &str, ok: bool, values: &Value, floor: Option<Floor>) {
    let load = Load::now();
    let mut line = json!({
        "figure": name, "ok": ok, "values": values,
        "load": load.minute, "cores": load.cores, "loaded": load.is_loaded(),
    });
    if let (Some(floor), Some(line)) = (floor, line.as_object_mut()) {
        let floor = json!({
            "sync_p50_ms": crate::quantile::ms(floor.p50),
            "sync_p99_ms": crate::quantile::ms(floor.p99),
            "syncs_per_second": floor.rate.round(),
        });
        line.insert("floor".to_owned(), floor);
    }
    let _ = writeln!(std::io::stdout().lock(), "{line}");
    let mark = if ok { "holds" } else { "MISSED" };
    let warning =
        if load.is_loaded() { format!("  [machine loaded: {:.1}]", load.minute) } else { String::new() };
    let beside = floor.map_or(String::new(), |floor| {
        let (p50, p99) = (crate::quantile::ms(floor.p50), crate::quantile::ms(floor.p99));
        format!("; disk p50 {p50:.2} ms, p99 {p99:.2} ms, {:.0} syncs/s", floor.rate)
    });
    complain(&format!("{} {mark}: {words}{beside}{warning}", name.to_uppercase()));
}

/// Writes a line for people.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
