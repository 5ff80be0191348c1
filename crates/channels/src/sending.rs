//! What sends to every platform have in common: steps that are committed first, files that are checked first, and
//! what the loss of an answer means.

use std::io::Read;

use loom_domain::outbox::Step;
use loom_domain::{Code, Error};
use loom_markup::Limit;
use loom_transport::{FileBody, Written, bytes_written};
use sha2::{Digest, Sha256};

use crate::{Fault, FaultClass, OutFile, Progress, SendPart};

/// Bytes of a file that are read at once.
const READ_BYTES: usize = 64 * 1024;

/// What a call does; it decides what an ambiguous answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Reads, or changes nothing people see; may be repeated.
    None,
    /// Shows something to people; an ambiguous answer is unknown.
    Publish,
}

/// No answer was read.
#[derive(Debug)]
pub(crate) struct NoReply {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// Whether a byte of the request may have left.
    pub(crate) written: bool,
}

impl From<&Error> for NoReply {
    fn from(error: &Error) -> Self {
        NoReply {
            code: error.code.as_str(),
            message: error.message.clone(),
            written: bytes_written(error) != Written::No,
        }
    }
}

/// Splits a text within a limit; `text_too_long` above `chunks_max` chunks.
pub(crate) fn split(text: &str, limit: Limit, chunks_max: usize) -> Result<Vec<String>, Error> {
    loom_markup::split(text, limit, chunks_max).map_err(|error| {
        Error::new(Code::TextTooLong, error.to_string()).with_detail("chunks_max", chunks_max)
    })
}

/// Refuses a file that the platform would refuse: without a name, empty, or above its limit in bytes.
pub(crate) fn check_size(provider: &str, bytes_max: u64, name: &str, size: u64) -> Result<(), Error> {
    if name.trim().is_empty() {
        return Err(Error::new(Code::FileRefused, "a file needs a name"));
    }
    if (1..=bytes_max).contains(&size) {
        return Ok(());
    }
    let message = format!("the file has {size} bytes; {provider} takes 1 to {bytes_max}");
    Err(Error::new(Code::FileRefused, message).with_detail("size", size).with_detail("limit", bytes_max))
}

/// The file of a Part.
pub(crate) fn file_of(part: &SendPart) -> Result<&OutFile, Fault> {
    let missing = || Fault::new(FaultClass::Permanent, "file_missing", "the part has no file");
    part.file.as_ref().ok_or_else(missing)
}

/// A fault for a network failure or an answer without meaning.
pub(crate) fn transport_fault(
    code: &str,
    message: impl Into<String>,
    written: bool,
    effect: Effect,
) -> Fault {
    let class = match effect {
        Effect::Publish if written => FaultClass::Unknown,
        _ => FaultClass::Retryable,
    };
    Fault::new(class, code, message)
}

/// Commits a step; without the commit nothing may leave.
pub(crate) async fn commit(progress: &dyn Progress, step: Step, key: Option<&str>) -> Result<(), Fault> {
    progress.step(step, key.map(str::to_owned)).await.map_err(|error| {
        Fault::new(FaultClass::Retryable, error.code.as_str(), "the step was not committed, nothing was sent")
    })
}

/// Opens the stored file and compares its digest before a byte leaves.
pub(crate) async fn open_checked(file: &OutFile) -> Result<FileBody, Fault> {
    let (path, sha256, size) = (file.path.clone(), file.sha256.clone(), file.size);
    let work = tokio::task::spawn_blocking(move || {
        let local = |code: &str, message: &str, class| Fault::new(class, code, message);
        let mut handle = std::fs::File::open(&path).map_err(|_| {
            local("artifact_missing", "the stored file cannot be opened", FaultClass::Retryable)
        })?;
        let (read, digest) = digest(&mut handle)
            .map_err(|_| local("disk", "the stored file cannot be read", FaultClass::Retryable))?;
        if read != size || !digest.eq_ignore_ascii_case(&sha256) {
            return Err(local(
                "artifact_digest_mismatch",
                "the stored file is damaged",
                FaultClass::Permanent,
            ));
        }
        FileBody::new(handle).map_err(|error| {
            local(error.code.as_str(), "the stored file cannot be read", FaultClass::Retryable)
        })
    });
    work.await
        .unwrap_or_else(|_| Err(Fault::new(FaultClass::Retryable, "disk", "the stored file was not read")))
}

/// Length and hex SHA-256 of a file.
fn digest(file: &mut std::fs::File) -> std::io::Result<(u64, String)> {
    let (mut digest, mut length, mut buffer) = (Sha256::new(), 0_u64, vec![0_u8; READ_BYTES]);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok((length, hex::encode(digest.finalize())));
        }
        length += read as u64;
        digest.update(buffer.get(..read).unwrap_or_default());
    }
}
