//! Files of the store: content-addressed, mode 0400, opened by nobody's path but their digest.

mod aside;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use loom_domain::{
    Artifact, Code, Error, Result, TextFormat,
    artifact::{Direction, FILE_BYTES_MAX},
    connection::Connection,
    message::AttachmentStatus,
};
use loom_secrets::Profile;
use loom_store::{Act, ops::artifacts::NewArtifact};
use sha2::{Digest as _, Sha256};

use crate::{hub::Hub, turns::sniff};
pub(crate) use aside::Aside;

const NAME_BYTES_MAX: usize = 255;
const READ_BYTES: usize = 65_536;

/// The folder of stored files.
#[derive(Debug, Clone)]
pub struct Blobs {
    root: PathBuf,
}

impl Blobs {
    pub(crate) fn new(root: PathBuf) -> Self {
        Blobs { root }
    }

    fn path(&self, sha256: &str) -> Result<PathBuf> {
        let is_digest =
            sha256.len() == 64 && sha256.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        match sha256.get(..2) {
            Some(folder) if is_digest => Ok(self.root.join(folder).join(sha256)),
            _ => Err(Error::new(Code::ArtifactMissing, "no such file in the store")),
        }
    }

    /// Stores bytes under their digest: written aside, synced, renamed.
    pub async fn put(&self, bytes: Bytes) -> Result<String> {
        self.keep(self.append(None, bytes).await?).await
    }

    /// Writes bytes to a file aside, a new one at first.
    pub(crate) async fn append(&self, aside: Option<Aside>, bytes: Bytes) -> Result<Aside> {
        let blobs = self.clone();
        let append = move || {
            let mut aside = aside.map_or_else(|| Aside::new(&blobs.root), Ok)?;
            aside.write(&bytes)?;
            Ok(aside)
        };
        tokio::task::spawn_blocking(append).await.map_err(Error::internal)?
    }

    /// Keeps a file under its digest, and returns that. Stored bytes that are damaged are replaced.
    pub(crate) async fn keep(&self, aside: Aside) -> Result<String> {
        let blobs = self.clone();
        tokio::task::spawn_blocking(move || blobs.keep_now(aside)).await.map_err(Error::internal)?
    }

    fn keep_now(&self, aside: Aside) -> Result<String> {
        let sha256 = aside.sha256();
        let path = self.path(&sha256)?;
        if !holds(&path, aside.size(), &sha256) {
            aside.settle(&path)?;
        }
        Ok(sha256)
    }

    /// The path of a stored file whose bytes were just checked against its digest.
    pub async fn verified(&self, sha256: &str) -> Result<PathBuf> {
        let (path, wanted) = (self.path(sha256)?, sha256.to_owned());
        let check = move || {
            let found = digest_of(&path)?;
            match found == wanted {
                true => Ok(path),
                false => {
                    Err(Error::new(Code::ArtifactDigestMismatch, "a stored file is damaged; it was not sent"))
                }
            }
        };
        tokio::task::spawn_blocking(check).await.map_err(Error::internal)?
    }

    fn files(&self) -> impl Iterator<Item = std::fs::DirEntry> {
        let folders = std::fs::read_dir(&self.root).into_iter().flatten().flatten();
        folders.filter_map(|folder| std::fs::read_dir(folder.path()).ok()).flatten().flatten()
    }

    /// Digests of the files that are there.
    pub(crate) fn digests(&self) -> Vec<String> {
        let names = self.files().map(|file| file.file_name().to_string_lossy().into_owned());
        names.filter(|name| self.path(name).is_ok()).collect()
    }

    /// Removes what a crash left half written. Called before anything is stored.
    pub(crate) fn remove_leftovers(&self) {
        for file in self.files().filter(|file| file.file_name().to_string_lossy().starts_with(aside::ASIDE)) {
            if let Err(error) = std::fs::remove_file(file.path()) {
                tracing::warn!("a half-written file cannot be removed: {error}");
            }
        }
    }

    /// Removes a file that nothing refers to any more.
    pub fn remove(&self, sha256: &str) -> Result<()> {
        let _ = std::fs::remove_file(self.path(sha256)?);
        Ok(())
    }
}

fn digest_of(path: &Path) -> Result<String> {
    let missing = |cause: std::io::Error| {
        Error::new(Code::ArtifactMissing, format!("a stored file cannot be read: {cause}"))
    };
    let mut file = std::fs::File::open(path).map_err(missing)?;
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; READ_BYTES]);
    loop {
        let read = file.read(&mut buffer).map_err(missing)?;
        match buffer.get(..read) {
            Some([]) | None => return Ok(hex::encode(hasher.finalize())),
            Some(bytes) => hasher.update(bytes),
        }
    }
}

/// Whether the file is there with these bytes.
fn holds(path: &Path, size: u64, sha256: &str) -> bool {
    let has_size = std::fs::metadata(path).is_ok_and(|stored| stored.len() == size);
    has_size && digest_of(path).is_ok_and(|stored| stored == sha256)
}

/// A safe base name of an untrusted one.
pub fn safe_name(name: &str) -> String {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let clean: String =
        base.chars()
            .map(|c| {
                if c.is_control() || matches!(c, ':' | '\u{202e}' | '\u{2066}'..='\u{2069}') {
                    '_'
                } else {
                    c
                }
            })
            .collect();
    let clean = clean.trim_matches([' ', '.']);
    let clean = loom_domain::text::prefix(clean, NAME_BYTES_MAX);
    if clean.is_empty() { "file".to_owned() } else { clean.to_owned() }
}

fn check_size(size: u64) -> Result<()> {
    if (1..=FILE_BYTES_MAX).contains(&size) {
        return Ok(());
    }
    let why = format!("a file has 1 to {FILE_BYTES_MAX} bytes; this one has {size}");
    Err(Error::new(Code::TooLarge, why))
}

impl Hub {
    /// The stored files.
    pub fn blobs(&self) -> Blobs {
        Blobs::new(self.home().join("blobs"))
    }

    /// Stores a file and its record. 0 bytes or more than 25 MB is `too_large`.
    pub async fn put_artifact(
        &self,
        act: Act,
        name: &str,
        declared: Option<String>,
        direction: Direction,
        bytes: Bytes,
    ) -> Result<Artifact> {
        check_size(u64::try_from(bytes.len()).unwrap_or(u64::MAX))?;
        let aside = self.blobs().append(None, bytes).await?;
        self.keep_artifact(act, name, declared, direction, aside).await
    }

    /// The same of a file that was written aside.
    pub(crate) async fn keep_artifact(
        &self,
        act: Act,
        name: &str,
        declared: Option<String>,
        direction: Direction,
        mut aside: Aside,
    ) -> Result<Artifact> {
        let size = aside.size();
        check_size(size)?;
        if direction == Direction::Out {
            aside = self.without_secret(aside).await?;
        }
        let mime_type = sniff(aside.head(), name).to_owned();
        let _storing = self.inner.storing.read().await;
        let sha256 = self.blobs().keep(aside).await?;
        let new = NewArtifact {
            sha256,
            size,
            mime_type,
            declared_mime: declared,
            name: safe_name(name),
            direction,
            status: AttachmentStatus::Ready,
        };
        self.store().put_artifact(act, new).await
    }

    /// Looks through a whole file off the threads that answer calls.
    async fn without_secret(&self, mut aside: Aside) -> Result<Aside> {
        let redactor = self.redactor().clone();
        let look = move || match aside.holds_secret(&redactor)? {
            true => Err(Error::new(Code::SecretInContent, "the file holds a secret and was not taken")),
            false => Ok(aside),
        };
        tokio::task::spawn_blocking(look).await.map_err(Error::internal)?
    }

    /// Removes a file that nothing refers to: its record, and its bytes when no other record names them.
    pub(crate) async fn forget_artifact(&self, artifact: Artifact) -> Result<()> {
        let _alone = self.inner.storing.write().await;
        let act = self.act(loom_domain::Principal::Hub);
        match self.store().delete_artifact(act, artifact.id).await? {
            true => self.blobs().remove(&artifact.sha256),
            false => Ok(()),
        }
    }

    /// Removes the bytes of a file that has no record.
    pub(crate) async fn forget_orphan(&self, sha256: String) -> Result<()> {
        let _alone = self.inner.storing.write().await;
        match self.store().knows_blob(sha256.clone()).await? {
            true => Ok(()),
            false => self.blobs().remove(&sha256),
        }
    }

    /// Text on its way out: an exact secret stops it, patterns are masked.
    pub fn outbound_text(&self, text: &str) -> Result<String> {
        if self.redactor().holds_exact(text) {
            return Err(Error::new(Code::SecretInContent, "the content holds a secret and was not sent"));
        }
        Ok(self.redactor().redact(text, Profile::Output).into_owned())
    }

    /// Text on its way into the store.
    pub fn stored_text(&self, text: &str) -> String {
        self.redactor().redact(text, Profile::Store).into_owned()
    }

    /// Cuts a text into the chunks of a Connection's platform.
    pub fn split_for(
        &self,
        connection: Option<&Connection>,
        text: &str,
        format: TextFormat,
        chunks_max: usize,
    ) -> Result<Vec<String>> {
        let Some(connection) = connection else { return Ok(vec![text.to_owned()]) };
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        loom_channels::split(&connection.provider, text, format, chunks_max)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    use std::sync::mpsc::RecvTimeoutError;
    use std::time::Duration;

    use super::*;

    #[test]
    fn names_lose_paths_and_control_characters() {
        assert_eq!(safe_name("../../etc/passwd"), "passwd");
        assert_eq!(safe_name("a\\b\u{7}c.txt"), "b_c.txt");
        assert_eq!(safe_name(".."), "file");
        assert!(safe_name(&"x".repeat(999)).len() <= 255);
    }

    #[tokio::test]
    async fn leftovers_of_a_crash_are_removed_and_whole_files_stay() {
        let home = tempfile::tempdir().unwrap();
        let blobs = Blobs::new(home.path().to_owned());
        let sha256 = blobs.put(Bytes::from_static(b"hello")).await.unwrap();
        let folder = home.path().join(&sha256[..2]);
        std::fs::write(folder.join(".7.3.new"), b"hel").unwrap();
        blobs.remove_leftovers();
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        assert!(blobs.verified(&sha256).await.is_ok());
    }

    /// F-15: a stored file that was damaged is made good by the same bytes.
    #[tokio::test]
    async fn f_15_a_damaged_file_is_replaced_when_its_bytes_come_again() {
        let home = tempfile::tempdir().unwrap();
        let blobs = Blobs::new(home.path().to_owned());
        let sha256 = blobs.put(Bytes::from_static(b"hello")).await.unwrap();
        let path = home.path().join(&sha256[..2]).join(&sha256);
        for damaged in ["hellO", "hel", ""] {
            std::fs::remove_file(&path).unwrap();
            std::fs::write(&path, damaged).unwrap();
            assert_eq!(blobs.verified(&sha256).await.unwrap_err().code, Code::ArtifactDigestMismatch);
            blobs.put(Bytes::from_static(b"hello")).await.unwrap();
            assert!(blobs.verified(&sha256).await.is_ok(), "after {damaged:?}");
        }
        assert_eq!(std::fs::read_dir(home.path().join(".new")).unwrap().count(), 0);
    }

    /// On the one thread of this test, a hash that is not made elsewhere would hold every other call.
    #[tokio::test]
    async fn msg_233_a_file_being_hashed_holds_no_other_call() {
        let home = tempfile::tempdir().unwrap();
        let blobs = Blobs::new(home.path().to_owned());
        let sha256 = blobs.put(Bytes::from_static(b"hello")).await.unwrap();
        let path = blobs.path(&sha256).unwrap();
        std::fs::remove_file(&path).unwrap();
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let (done, waits) = std::sync::mpsc::channel::<()>();
        let rescue = {
            let path = path.clone();
            std::thread::spawn(move || {
                let stuck = waits.recv_timeout(Duration::from_secs(20)) == Err(RecvTimeoutError::Timeout);
                stuck.then(|| std::fs::OpenOptions::new().write(true).open(path))
            })
        };
        let hashing = tokio::spawn({
            let (blobs, sha256) = (blobs.clone(), sha256.clone());
            async move { blobs.verified(&sha256).await }
        });
        let mut pipe = loop {
            // Opens once the hash reads at the other end.
            let nonblocking = nix::libc::O_NONBLOCK;
            match std::fs::OpenOptions::new().write(true).custom_flags(nonblocking).open(&path) {
                Ok(pipe) => break pipe,
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        };
        let other = blobs.put(Bytes::from_static(b"other")).await.unwrap();
        assert!(blobs.verified(&other).await.is_ok() && !hashing.is_finished());
        pipe.write_all(b"hello").unwrap();
        drop(pipe);
        assert_eq!(hashing.await.unwrap().unwrap(), path);
        drop(done);
        assert!(rescue.join().unwrap().is_none(), "the hash stood on the thread of the other calls");
    }

    /// MSG-167: damaged bytes are noticed before they leave.
    #[tokio::test]
    async fn msg_167_a_damaged_blob_is_never_given_out() {
        let home = tempfile::tempdir().unwrap();
        let blobs = Blobs::new(home.path().to_owned());
        let sha256 = blobs.put(Bytes::from_static(b"hello")).await.unwrap();
        let path = blobs.verified(&sha256).await.unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, b"other").unwrap();
        assert_eq!(blobs.verified(&sha256).await.unwrap_err().code, Code::ArtifactDigestMismatch);
        assert!(blobs.verified("../x").await.is_err());
    }
}
