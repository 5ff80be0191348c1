//! Files to send: opened once, hashed, and uploaded from the same handle.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use bytes::Bytes;
use loom_api::query::Upload;
use loom_api::{Client, request, routes};
use loom_domain::artifact::{FILE_BYTES_MAX, FILES_PER_SEND_MAX};
use loom_domain::{Code, Error, Result};
use nix::fcntl::OFlag;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::output::pick;

const CHUNK_BYTES: usize = 64 * 1024;

/// An opened file with its digest.
pub(crate) struct Attached {
    file: File,
    name: String,
    size: u64,
    sha256: String,
}

/// Opens the files of one send.
pub(crate) fn open_all(paths: &[String]) -> Result<Vec<Attached>> {
    if paths.len() > FILES_PER_SEND_MAX {
        return Err(Error::new(Code::TooMany, format!("more than {FILES_PER_SEND_MAX} files")));
    }
    paths.iter().map(|path| open(path)).collect()
}

fn open(path: &str) -> Result<Attached> {
    let refused = |why: &dyn std::fmt::Display| Error::new(Code::FileRefused, format!("{path}: {why}"));
    // Without O_NONBLOCK the open of a named pipe would wait for a writer.
    let flags = OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path);
    let mut file = opened.map_err(|error| {
        if error.raw_os_error() == Some(nix::libc::ELOOP) {
            refused(&"a symbolic link is not followed")
        } else {
            refused(&error)
        }
    })?;
    let facts = file.metadata().map_err(|error| refused(&error))?;
    if !facts.is_file() {
        return Err(refused(&"not a regular file"));
    }
    let size = facts.len();
    if size == 0 || size > FILE_BYTES_MAX {
        return Err(Error::new(
            Code::TooLarge,
            format!("{path}: {size} bytes; 1 to {FILE_BYTES_MAX} can be sent"),
        ));
    }
    let sha256 = digest(&mut file).map_err(|error| refused(&error))?;
    let name =
        Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Attached { file, name, size, sha256 })
}

fn digest(file: &mut File) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut limited = file.take(FILE_BYTES_MAX + 1);
    loop {
        match limited.read(&mut chunk)? {
            0 => return Ok(hex::encode(hasher.finalize())),
            read => hasher.update(chunk.get(..read).unwrap_or_default()),
        }
    }
}

impl Attached {
    /// The file as an admission check names it.
    pub(crate) fn announced(&self) -> request::File {
        request::File {
            artifact_id: None,
            name: Some(self.name.clone()),
            sha256: Some(self.sha256.clone()),
            size: Some(self.size),
        }
    }

    /// Uploads the bytes of the opened handle and names the stored file.
    pub(crate) async fn upload(mut self, hub: &Client) -> Result<request::File> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.size).unwrap_or(0));
        let again = self
            .file
            .seek(SeekFrom::Start(0))
            .and_then(|_| (&self.file).take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
        again.map_err(|error| Error::new(Code::FileRefused, format!("{}: {error}", self.name)))?;
        let query = Upload {
            name: Some(self.name.clone()),
            sha256: Some(self.sha256),
            size: Some(self.size),
            ..Upload::default()
        };
        let stored: Value =
            hub.post(routes::artifacts()).query(&query)?.bytes(Bytes::from(bytes)).run().await?;
        let id = pick::text(&stored, "id");
        Ok(request::File { artifact_id: Some(id), name: Some(self.name), sha256: None, size: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MSG-168, MSG-166: only a regular file within the limits is taken.
    #[test]
    fn msg_168_links_devices_and_directories_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
        std::fs::write(at("a.txt"), b"abc").unwrap();
        std::fs::write(at("empty"), b"").unwrap();
        std::os::unix::fs::symlink(at("a.txt"), at("link")).unwrap();
        let code = |path: &str| open(path).err().map(|error| error.code);
        assert_eq!(code(&at("link")), Some(Code::FileRefused));
        assert_eq!(code(&at(".")), Some(Code::FileRefused));
        assert_eq!(code("/dev/null"), Some(Code::FileRefused));
        assert_eq!(code(&at("absent")), Some(Code::FileRefused));
        assert_eq!(code(&at("empty")), Some(Code::TooLarge));
        let file = open(&at("a.txt")).ok().unwrap();
        assert_eq!(
            file.announced().sha256.unwrap(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    /// MSG-166: one byte more than 25 MB is too large, 25 MB is not; a ninth file is too many.
    #[test]
    fn msg_166_limits() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("big").to_string_lossy().into_owned();
        let file = File::create(&path).unwrap();
        file.set_len(FILE_BYTES_MAX + 1).unwrap();
        assert_eq!(open(&path).err().map(|error| error.code), Some(Code::TooLarge));
        let nine = vec![path; FILES_PER_SEND_MAX + 1];
        assert_eq!(open_all(&nine).err().map(|error| error.code), Some(Code::TooMany));
    }
}
