//! Content codings of answers, decoded as the bytes arrive and stopped when they grow out of proportion.

use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use bytes::Bytes;
use flate2::write::{GzDecoder, ZlibDecoder};

use crate::fault::{FaultKind, NetworkFault};

/// Codings that are asked for.
pub(crate) const ACCEPT_ENCODING: &str = "gzip, br, deflate";
/// Decoded bytes per received byte, beyond [`RATIO_FREE_BYTES`].
const RATIO_MAX: u64 = 100;
/// Decoded bytes that are never judged by the ratio.
const RATIO_FREE_BYTES: u64 = 1024 * 1024;
/// Received bytes that are decoded at once; bounds what one step can grow to.
const STEP_BYTES: usize = 4 * 1024;

/// Buffer of the brotli decoder.
const BROTLI_BUFFER_BYTES: usize = 16 * 1024;

/// Decoded bytes, which end at the cap: a few coded bytes may stand for a great many.
#[derive(Default)]
struct Capped {
    bytes: Vec<u8>,
    room: u64,
    is_over: bool,
}

impl Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() as u64 > self.room {
            self.is_over = true;
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.room -= bytes.len() as u64;
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Coding {
    Identity,
    Gzip(Box<GzDecoder<Capped>>),
    Deflate(Box<ZlibDecoder<Capped>>),
    Brotli(Box<DecompressorWriter<Capped>>),
}

impl Coding {
    fn sink(&mut self) -> Option<&mut Capped> {
        match self {
            Coding::Identity => None,
            Coding::Gzip(decoder) => Some(decoder.get_mut()),
            Coding::Deflate(decoder) => Some(decoder.get_mut()),
            Coding::Brotli(decoder) => Some(decoder.get_mut()),
        }
    }

    fn write(&mut self, step: &[u8]) -> io::Result<()> {
        match self {
            Coding::Identity => Ok(()),
            Coding::Gzip(decoder) => decoder.write_all(step).and_then(|()| decoder.flush()),
            Coding::Deflate(decoder) => decoder.write_all(step).and_then(|()| decoder.flush()),
            Coding::Brotli(decoder) => decoder.write_all(step).and_then(|()| decoder.flush()),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match self {
            Coding::Identity => Ok(()),
            Coding::Gzip(decoder) => decoder.try_finish(),
            Coding::Deflate(decoder) => decoder.try_finish(),
            Coding::Brotli(decoder) => decoder.close(),
        }
    }
}

/// Decodes one body and holds its caps.
pub(crate) struct Decoder {
    coding: Coding,
    received: u64,
    pub(crate) decoded: u64,
    bytes_max: u64,
}

impl Decoder {
    pub(crate) fn new(coding: Option<&str>, bytes_max: u64) -> Result<Self, NetworkFault> {
        let coding = match coding.map(|c| c.trim().to_ascii_lowercase()).as_deref() {
            None | Some("" | "identity") => Coding::Identity,
            Some("gzip" | "x-gzip") => Coding::Gzip(Box::new(GzDecoder::new(Capped::default()))),
            Some("deflate") => Coding::Deflate(Box::new(ZlibDecoder::new(Capped::default()))),
            Some("br") => {
                let decoder = DecompressorWriter::new(Capped::default(), BROTLI_BUFFER_BYTES);
                Coding::Brotli(Box::new(decoder))
            }
            Some(_) => return Err(protocol("the answer has a content coding that was not asked for")),
        };
        Ok(Decoder { coding, received: 0, decoded: 0, bytes_max })
    }

    /// Takes received bytes, gives decoded ones.
    pub(crate) fn push(&mut self, bytes: &Bytes) -> Result<Bytes, NetworkFault> {
        if let Coding::Identity = self.coding {
            self.count(bytes.len(), bytes.len())?;
            return Ok(bytes.clone());
        }
        let mut all = Vec::new();
        for step in bytes.chunks(STEP_BYTES) {
            let decoded = self.step(step.len(), |coding| coding.write(step))?;
            all.extend_from_slice(&decoded);
        }
        Ok(Bytes::from(all))
    }

    /// Ends the body: a coded one must be complete.
    pub(crate) fn finish(&mut self) -> Result<Bytes, NetworkFault> {
        if self.received == 0 {
            return Ok(Bytes::new());
        }
        self.step(0, Coding::finish).map(Bytes::from)
    }

    /// Works within the room that is left, and takes out what was decoded.
    fn step(
        &mut self,
        received: usize,
        work: impl FnOnce(&mut Coding) -> io::Result<()>,
    ) -> Result<Vec<u8>, NetworkFault> {
        let room = self.room(received as u64);
        if let Some(sink) = self.coding.sink() {
            sink.room = room;
        }
        let worked = work(&mut self.coding);
        let Some(sink) = self.coding.sink() else { return Ok(Vec::new()) };
        let (decoded, is_over) = (std::mem::take(&mut sink.bytes), sink.is_over);
        if is_over {
            return Err(self.over(self.decoded.saturating_add(room).saturating_add(1)));
        }
        worked.map_err(|_| protocol("the coded answer is truncated or damaged"))?;
        self.count(received, decoded.len())?;
        Ok(decoded)
    }

    /// Bytes that may still be decoded once so many more were received.
    fn room(&self, received: u64) -> u64 {
        let proportion = self.received.saturating_add(received).saturating_mul(RATIO_MAX);
        self.bytes_max.min(proportion.saturating_add(RATIO_FREE_BYTES)).saturating_sub(self.decoded)
    }

    fn over(&self, decoded: u64) -> NetworkFault {
        if decoded > self.bytes_max {
            return too_large(format!("the answer is larger than {} bytes", self.bytes_max));
        }
        too_large(format!("the answer decodes to more than {RATIO_MAX} times its size"))
    }

    fn count(&mut self, received: usize, decoded: usize) -> Result<(), NetworkFault> {
        self.received += received as u64;
        self.decoded += decoded as u64;
        let proportion = self.received.saturating_mul(RATIO_MAX);
        if self.decoded > self.bytes_max || self.decoded.saturating_sub(RATIO_FREE_BYTES) > proportion {
            return Err(self.over(self.decoded));
        }
        Ok(())
    }
}

fn protocol(message: &str) -> NetworkFault {
    NetworkFault::receive(FaultKind::Protocol, message)
}

fn too_large(message: String) -> NetworkFault {
    NetworkFault::receive(FaultKind::TooLarge, message)
}
