//! A file of rows, each bound to the one before by a digest; written by one process at a time, durable row by row.
//!
//! A line is one JSON object. `prev` is the digest of the line before, `digest` that of the line's own text up to it. A
//! line without its end was never durable, and counts for nothing.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use loom_domain::{Code, Error, Result, Timestamp};
use nix::fcntl::OFlag;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{blocking, sha256_of_bytes};

/// Largest file.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Largest row.
const ROW_BYTES_MAX: usize = 1024 * 1024;
/// Looks at a lock that a reader may hold for a moment.
const LOCK_TRIES: u32 = 5;
const LOCK_WAIT: Duration = Duration::from_millis(20);
const DIGEST_KEY: &str = ",\"digest\":\"";

/// A row with what binds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ChainRow<T> {
    /// Place, from 0.
    pub seq: u64,
    /// When it was written.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// How often the file was taken for writing: the rows of one holder have one number.
    pub fence: u64,
    /// What happened.
    #[serde(flatten)]
    pub body: T,
    /// Digest of the line before.
    pub prev: String,
    /// Digest of this line up to here.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
}

/// A file of rows that this process alone writes.
#[derive(Debug)]
pub struct Chain<T> {
    file: Arc<File>,
    rows: Vec<ChainRow<T>>,
    head: String,
    fence: u64,
    bytes: u64,
    /// Whether a row may be in the file that is not among the rows: then none is added behind it.
    is_torn: bool,
}

impl<T: Serialize + DeserializeOwned + Clone> Chain<T> {
    /// Makes a file that must not exist, with nobody else able to take it before its first row.
    pub fn create(path: &Path) -> Result<Self> {
        let file = options().create_new(true).open(path).map_err(|error| unwritable(&error))?;
        lock(&file)?;
        let made = path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all());
        made.map_err(|error| unwritable(&error))?;
        let (file, head) = (Arc::new(file), seed(path));
        Ok(Chain { file, rows: Vec::new(), head, fence: 1, bytes: 0, is_torn: false })
    }

    /// Takes a file for writing: `locked` while another process has it, `integrity_error` when it is damaged.
    pub fn open(path: &Path) -> Result<Self> {
        let mut file = options().open(path).map_err(|error| absent(path, &error))?;
        lock(&file)?;
        let bytes = bytes_of(&mut file)?;
        let (rows, head, whole) = parsed(&bytes, path)?;
        if whole < bytes.len() as u64 {
            let cut = file.set_len(whole).and_then(|()| file.sync_data());
            cut.map_err(|error| unwritable(&error))?;
        }
        let fence = rows.last().map_or(0, |row: &ChainRow<T>| row.fence) + 1;
        Ok(Chain { file: Arc::new(file), rows, head, fence, bytes: whole, is_torn: false })
    }

    /// The rows so far.
    pub fn rows(&self) -> &[ChainRow<T>] {
        &self.rows
    }

    /// Adds a row; when this returns, it is on disk. A file that could not be read again is not made.
    pub fn append(&mut self, at: Timestamp, body: T) -> Result<&ChainRow<T>> {
        let next = self.next(at, body)?;
        let written = write(&self.file, &next.line, self.bytes);
        self.is_torn = false;
        written?;
        Ok(self.written(next))
    }

    /// The same, with the disk waited for beside the tasks that serve. One that is given up while the row is on its
    /// way leaves a journal that takes no further row.
    pub async fn append_async(&mut self, at: Timestamp, body: T) -> Result<&ChainRow<T>> {
        let mut next = self.next(at, body)?;
        let (file, line, bytes) = (Arc::clone(&self.file), std::mem::take(&mut next.line), self.bytes);
        let written = blocking(move || write(&file, &line, bytes).map(|()| line)).await;
        self.is_torn = false;
        next.line = written?;
        Ok(self.written(next))
    }

    /// Makes the row behind the last one, and expects it to be written.
    fn next(&mut self, at: Timestamp, body: T) -> Result<Next<T>> {
        if self.is_torn {
            return Err(Error::new(Code::InvalidState, "the journal was left in the middle of a row")
                .with_hint("take it up again"));
        }
        let seq = self.rows.len() as u64;
        let mut row =
            ChainRow { seq, at, fence: self.fence, body, prev: self.head.clone(), digest: String::new() };
        let text = serde_json::to_string(&row).map_err(Error::internal)?;
        let text = text.strip_suffix('}').unwrap_or(&text);
        row.digest = sha256_of_bytes(text);
        let line = format!("{text}{DIGEST_KEY}{}\"}}\n", row.digest);
        if line.len() > ROW_BYTES_MAX {
            return Err(Error::new(Code::InvalidInput, format!("a row is over {ROW_BYTES_MAX} bytes")));
        }
        if self.bytes + line.len() as u64 > FILE_BYTES_MAX {
            return Err(Error::new(Code::TooLarge, format!("a journal has at most {FILE_BYTES_MAX} bytes"))
                .with_hint("this one is full; begin again under another key"));
        }
        self.is_torn = true;
        Ok(Next { row, line })
    }

    fn written(&mut self, next: Next<T>) -> &ChainRow<T> {
        self.bytes += next.line.len() as u64;
        self.head = sha256_of_bytes(next.line.trim_end());
        self.rows.push_mut(next.row)
    }
}

/// A row on its way to the disk.
struct Next<T> {
    row: ChainRow<T>,
    line: String,
}

/// Writes a line behind so many bytes. What a full disk took of it is taken out again.
fn write(file: &File, line: &str, bytes: u64) -> Result<()> {
    let mut at = file;
    let written = at.seek(SeekFrom::Start(bytes)).and_then(|_| at.write_all(line.as_bytes()));
    written.and_then(|()| file.sync_data()).map_err(|error| {
        let _ = file.set_len(bytes);
        unwritable(&error)
    })
}

/// Reads and checks a file, also while another process writes it.
pub fn read_chain<T: DeserializeOwned>(path: &Path) -> Result<Vec<ChainRow<T>>> {
    let open = OpenOptions::new().read(true).custom_flags(OFlag::O_NOFOLLOW.bits()).open(path);
    let mut file = open.map_err(|error| absent(path, &error))?;
    Ok(parsed(&bytes_of(&mut file)?, path)?.0)
}

/// Whether a process has the file for writing.
pub fn is_chain_held(path: &Path) -> bool {
    let open = OpenOptions::new().read(true).custom_flags(OFlag::O_NOFOLLOW.bits()).open(path);
    open.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600).custom_flags(OFlag::O_NOFOLLOW.bits());
    options
}

/// A reader that asks who holds the file has it for a moment, so one look is not enough.
fn lock(file: &File) -> Result<()> {
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_WAIT),
            Err(TryLockError::Error(error)) => return Err(unwritable(&error)),
        }
    }
    Err(Error::new(Code::Locked, "another process works on it").with_hint("wait for it, or cancel it there"))
}

fn bytes_of(file: &mut File) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(Error::internal)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(damaged("it is too large"));
    }
    Ok(bytes)
}

/// Rows, the digest of the last line, and the bytes of all whole lines.
fn parsed<T: DeserializeOwned>(bytes: &[u8], path: &Path) -> Result<(Vec<ChainRow<T>>, String, u64)> {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let text = std::str::from_utf8(bytes.get(..whole).unwrap_or_default());
    let text = text.map_err(|_| damaged("it is not text"))?;
    let (mut rows, mut head) = (Vec::new(), seed(path));
    for (seq, line) in (0_u64..).zip(text.lines()) {
        let broken = |why: &str| damaged(why).with_detail("row", seq);
        let (own, digest) = line.rsplit_once(DIGEST_KEY).ok_or_else(|| broken("a row has no digest"))?;
        if digest.strip_suffix("\"}") != Some(sha256_of_bytes(own).as_str()) {
            return Err(broken("a row does not have the digest it names"));
        }
        let row: ChainRow<T> = serde_json::from_str(line).map_err(|_| broken("a row cannot be read"))?;
        if row.seq != seq || row.prev != head {
            return Err(broken("a row is missing or stands elsewhere"));
        }
        head = sha256_of_bytes(line);
        rows.push(row);
    }
    Ok((rows, head, whole as u64))
}

/// The first row is bound to the name of its file.
fn seed(path: &Path) -> String {
    sha256_of_bytes(path.file_stem().unwrap_or_default().as_encoded_bytes())
}

fn absent(path: &Path, error: &std::io::Error) -> Error {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    match error.kind() {
        std::io::ErrorKind::NotFound => Error::new(Code::NotFound, format!("there is no {name} here")),
        _ => unwritable(error),
    }
}

fn unwritable(error: &std::io::Error) -> Error {
    Error::new(Code::InvalidInput, format!("the journal cannot be opened or written: {error}"))
}

fn damaged(why: &str) -> Error {
    Error::new(Code::IntegrityError, format!("the journal is damaged: {why}"))
        .with_hint("nothing goes on from it; begin again under another key")
}

/// Whether nothing was written to a file since a time. What cannot be asked was written just now.
pub fn is_unwritten_since(path: &Path, before: Timestamp) -> bool {
    let written = path.symlink_metadata().and_then(|meta| meta.modified()).ok();
    let since_epoch = written.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    since_epoch.and_then(|age| i64::try_from(age.as_millis()).ok()).is_some_and(|at| at < before.0)
}

/// The file of a name in a folder.
pub fn chain_file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.ndjson"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn filled(path: &Path) -> Chain<Value> {
        let mut chain = Chain::create(path).unwrap();
        for n in 0..3 {
            chain.append(Timestamp(n), json!({"kind": "k", "n": n, "x": 0.1})).unwrap();
        }
        chain
    }

    /// CAP-127: one process has the file; the next one sees what the first left behind.
    #[test]
    fn cap_127_one_process_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = chain_file(folder.path(), "trn_a");
        let chain = filled(&path);
        assert!(is_chain_held(&path));
        assert_eq!(Chain::<Value>::open(&path).unwrap_err().code, Code::Locked);
        assert_eq!(read_chain::<Value>(&path).unwrap().len(), 3);
        drop(chain);
        let mut again = Chain::<Value>::open(&path).unwrap();
        assert_eq!(again.append(Timestamp(9), json!({"kind": "k"})).unwrap().fence, 2);
        assert_eq!(read_chain::<Value>(&path).unwrap(), again.rows());
    }

    /// CAP-127: a journal is not filled over what can be read again.
    #[test]
    fn cap_127_a_full_journal_takes_no_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = chain_file(folder.path(), "trn_a");
        drop(filled(&path));
        let mut chain = Chain::<Value>::open(&path).unwrap();
        let written = std::fs::metadata(&path).unwrap().len();
        assert_eq!(chain.bytes, written);
        chain.bytes = FILE_BYTES_MAX - 10;
        assert_eq!(chain.append(Timestamp(9), json!({"kind": "k"})).unwrap_err().code, Code::TooLarge);
        assert_eq!(std::fs::metadata(&path).unwrap().len(), written);
        chain.bytes = written;
        chain.append(Timestamp(9), json!({"kind": "k"})).unwrap();
        assert_eq!(chain.bytes, std::fs::metadata(&path).unwrap().len());
    }

    /// CAP-127: a row that nobody waited for is found by the next who takes the file, and none is written over it.
    #[tokio::test]
    async fn cap_127_a_row_that_was_given_up_is_no_ground_for_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = chain_file(folder.path(), "trn_a");
        let mut chain = filled(&path);
        chain.append_async(Timestamp(3), json!({"kind": "k", "n": 3})).await.unwrap();
        {
            let mut given_up = std::pin::pin!(chain.append_async(Timestamp(4), json!({"kind": "k", "n": 4})));
            assert!(futures_util::poll!(given_up.as_mut()).is_pending());
        }
        let refused = chain.append_async(Timestamp(5), json!({"kind": "k"})).await.unwrap_err();
        assert_eq!(refused.code, Code::InvalidState);
        assert_eq!(chain.append(Timestamp(5), json!({"kind": "k"})).unwrap_err().code, Code::InvalidState);
        drop(chain);
        let mut again = loop {
            // The row that was on its way holds the file until it is there.
            match Chain::<Value>::open(&path) {
                Ok(chain) => break chain,
                Err(error) => assert_eq!(error.code, Code::Locked),
            }
        };
        assert_eq!(again.rows().len(), 5);
        assert_eq!(again.append_async(Timestamp(6), json!({"kind": "k"})).await.unwrap().seq, 5);
        assert_eq!(read_chain::<Value>(&path).unwrap(), again.rows());
    }

    /// CAP-127: any changed byte, and any row that is taken out, breaks the chain; half a row does not.
    #[test]
    fn cap_127_a_broken_chain_is_an_integrity_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = chain_file(folder.path(), "trn_a");
        drop(filled(&path));
        let text = std::fs::read_to_string(&path).unwrap();
        let fails = |text: String, name: &str| {
            let path = chain_file(folder.path(), name);
            std::fs::write(&path, text).unwrap();
            let error = Chain::<Value>::open(&path).unwrap_err();
            std::fs::remove_file(&path).unwrap();
            error.code
        };
        for (at, _) in text.char_indices().filter(|(at, _)| at % 7 == 0 && text.as_bytes()[*at] != b'\n') {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'7' { b'8' } else { b'7' };
            assert_eq!(fails(String::from_utf8(changed).unwrap(), "trn_a2"), Code::IntegrityError, "{at}");
        }
        let without: Vec<&str> = text.lines().enumerate().filter(|(n, _)| *n != 1).map(|(_, l)| l).collect();
        assert_eq!(fails(format!("{}\n", without.join("\n")), "trn_a2"), Code::IntegrityError);
        assert_eq!(fails(text.clone(), "trn_other"), Code::IntegrityError);
        std::fs::write(&path, format!("{text}{{\"seq\":3,\"at\"")).unwrap();
        assert_eq!(read_chain::<Value>(&path).unwrap().len(), 3);
        assert_eq!(Chain::<Value>::open(&path).unwrap().rows().len(), 3);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}
