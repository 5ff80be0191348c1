//! Request bodies: bytes and open files in order, replayable for every attempt.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt};
use loom_domain::{Code, Error, Result};

/// Bytes of a file that are read at once.
const FILE_CHUNK_BYTES: usize = 64 * 1024;

/// An open file as a body or a part of one. Read by position, so that attempts do not disturb each other.
#[derive(Debug, Clone)]
pub struct FileBody {
    file: Arc<File>,
    len: u64,
}

impl FileBody {
    /// Takes an open file; its length is fixed now.
    pub fn new(file: File) -> Result<Self> {
        let meta = file.metadata().map_err(|_| Error::new(Code::InvalidInput, "the file cannot be read"))?;
        if !meta.is_file() {
            return Err(Error::new(Code::InvalidInput, "only regular files can be sent"));
        }
        Ok(FileBody { file: Arc::new(file), len: meta.len() })
    }

    /// Opens a file by path.
    pub fn open(path: &Path) -> Result<Self> {
        Self::new(File::open(path).map_err(|_| Error::new(Code::InvalidInput, "the file cannot be opened"))?)
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file was empty when opened.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    async fn read_at(&self, offset: u64) -> std::io::Result<Bytes> {
        let file = Arc::clone(&self.file);
        let want = usize::try_from(self.len - offset).unwrap_or(FILE_CHUNK_BYTES).min(FILE_CHUNK_BYTES);
        let read = tokio::task::spawn_blocking(move || {
            let mut buffer = vec![0_u8; want];
            file.read_exact_at(&mut buffer, offset).map(|()| Bytes::from(buffer))
        });
        read.await.map_err(std::io::Error::other)?
    }

    fn chunks(self) -> BoxStream<'static, std::io::Result<Bytes>> {
        stream::try_unfold((self, 0_u64), |(file, offset)| async move {
            if offset >= file.len {
                return Ok(None);
            }
            let bytes = file.read_at(offset).await?;
            let next = offset + bytes.len() as u64;
            Ok(Some((bytes, (file, next))))
        })
        .boxed()
    }
}

/// A piece of a body.
#[derive(Debug, Clone)]
pub(crate) enum Chunk {
    /// Bytes in memory.
    Bytes(Bytes),
    /// The whole of an open file.
    File(FileBody),
}

/// A request body: pieces in order.
#[derive(Debug, Clone, Default)]
pub struct Body {
    chunks: Vec<Chunk>,
}

impl Body {
    pub(crate) fn push(&mut self, chunk: Chunk) {
        self.chunks.push(chunk);
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.chunks
            .iter()
            .map(|c| match c {
                Chunk::Bytes(b) => b.len() as u64,
                Chunk::File(f) => f.len,
            })
            .sum()
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that are held in memory.
    pub(crate) fn memory_len(&self) -> u64 {
        self.chunks.iter().map(|c| if let Chunk::Bytes(b) = c { b.len() as u64 } else { 0 }).sum()
    }

    /// The bytes in order.
    pub fn stream(&self) -> BoxStream<'static, std::io::Result<Bytes>> {
        let chunks = self.chunks.clone();
        stream::iter(chunks)
            .flat_map(|chunk| match chunk {
                Chunk::Bytes(bytes) => stream::once(async move { Ok(bytes) }).boxed(),
                Chunk::File(file) => file.chunks(),
            })
            .boxed()
    }

    /// Collects the whole body in memory; for mocks and recordings.
    pub async fn collect(&self) -> std::io::Result<Vec<u8>> {
        let mut all = Vec::new();
        let mut stream = self.stream();
        while let Some(bytes) = stream.next().await {
            all.extend_from_slice(&bytes?);
        }
        Ok(all)
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Body { chunks: vec![Chunk::Bytes(bytes)] }
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Bytes::from(text).into()
    }
}

impl From<FileBody> for Body {
    fn from(file: FileBody) -> Self {
        Body { chunks: vec![Chunk::File(file)] }
    }
}
