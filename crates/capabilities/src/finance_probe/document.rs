//! The main document of a filing: counted, hashed, its beginning as text, and kept only where the owner says.

mod excerpt;

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use loom_domain::{Code, Error, Result};
use sha2::{Digest as _, Sha256};

use super::client::Sec;
use super::names::wrong;
use super::output::{Document, Filing};
use super::task::DocumentOrder;
use crate::{Cx, SourceRef};

/// Bytes of the beginning that title and excerpt are made of.
const HEAD_BYTES: usize = 2 * 1024 * 1024;

/// Where the bytes go: a new file, or nowhere. A file that was not filled to its end is removed.
pub(super) struct Place(Option<(File, PathBuf)>);

impl Place {
    /// Makes the file before anything is asked for. Only the owner names files.
    pub(super) fn open(cx: &Cx, order: &DocumentOrder) -> Result<Place> {
        let Some(path) = &order.out else { return Ok(Place(None)) };
        cx.principal().require_owner()?;
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let file = made.map_err(|error| {
            wrong("/document_out", format!("the new file cannot be made: {}", error.kind()))
        })?;
        Ok(Place(Some((file, PathBuf::from(path)))))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let Some((file, _)) = &mut self.0 else { return Ok(()) };
        file.write_all(bytes).map_err(|error| not_written(&error))
    }

    fn keep(mut self) -> Result<()> {
        let Some((file, _)) = &self.0 else { return Ok(()) };
        file.sync_all().map_err(|error| not_written(&error))?;
        self.0 = None;
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some((_, path)) = self.0.take() {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn not_written(error: &std::io::Error) -> Error {
    wrong("/document_out", format!("the document cannot be written: {}", error.kind()))
}

/// Reads the main document of a filing.
pub(super) async fn read(
    sec: &Sec<'_>,
    filing: &Filing,
    order: &DocumentOrder,
    mut place: Place,
) -> Result<(Document, SourceRef)> {
    let url = filing.document_url.clone().ok_or_else(|| {
        Error::new(Code::NoMatchingFiling, "the filing names no main document")
            .with_detail("accession_number", filing.accession_number.as_str())
    })?;
    let mut body = sec.request(&url)?.max_body_bytes(order.bytes_max).stream().await?;
    let content_type = body.header("content-type").map(str::to_owned);
    let (mut hash, mut head, mut size) = (Sha256::new(), Vec::new(), 0_u64);
    while let Some(bytes) = body.chunk().await {
        let bytes = bytes?;
        hash.update(&bytes);
        size += bytes.len() as u64;
        let room = HEAD_BYTES.saturating_sub(head.len()).min(bytes.len());
        head.extend_from_slice(bytes.get(..room).unwrap_or_default());
        place.write(&bytes)?;
    }
    place.keep()?;
    let is_text = content_type.as_deref().is_some_and(|kind| kind.starts_with("text/"));
    let text = String::from_utf8_lossy(&head);
    let (title, text_excerpt) = if is_text { excerpt::of(&text) } else { (None, None) };
    let document = Document {
        url: url.clone(),
        sha256: format!("sha256:{}", hex::encode(hash.finalize())),
        size_bytes: size,
        content_type,
        title,
        text_excerpt,
    };
    let name = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest).to_owned();
    Ok((document, SourceRef::new("sec_document", name, Some(url), sec.cx.now())))
}
