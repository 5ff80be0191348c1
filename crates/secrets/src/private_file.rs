//! Files that only their owner may read: checked on the open handle, written without a gap.

mod read;
pub(crate) mod write;

pub use read::{PRIVATE_FILE_BYTES_MAX, PrivateFile, read_private};
pub use write::{create_private, ensure_private_dir, write_private};

use std::path::Path;

use loom_domain::{Code, Error};

/// A `credential_file_refused` that names the broken rule.
fn refused(path: &Path, rule: &str, why: &str) -> Error {
    Error::new(Code::CredentialFileRefused, format!("{}: {why}", path.display())).with_detail("rule", rule)
}

fn io_refused(path: &Path, rule: &str, cause: &std::io::Error) -> Error {
    refused(path, rule, &cause.to_string())
}

#[cfg(test)]
mod tests;
