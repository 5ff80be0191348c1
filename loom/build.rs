//! How the program is linked.
//!
//! Packed relocations (`DT_RELR`) save the megabyte or two of tables that the loader reads at every start. The C library
//! has to know them, which glibc does since 2.36; the program then says so, and an older one refuses it in words.

use std::process::Command;

const PACKED_SINCE: (u32, u32) = (2, 36);

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let is_native = variable("HOST") == variable("TARGET");
    let is_glibc = variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    if is_native && is_glibc && glibc().is_some_and(|version| version >= PACKED_SINCE) {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Version of this machine's C library, as `getconf` tells it: `glibc 2.36`.
fn glibc() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
