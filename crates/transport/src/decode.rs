//! Content codings of answers, decoded as the bytes arrive and stopped when they grow out of proportion.

use std::io::Write;

use bytes::Bytes;
use flate2::write::{GzDecoder, ZlibDecoder};

use crate::fault::{FaultKind, NetworkFault};

/// Codings that are asked for.
pub(crate) const ACCEPT_ENCODING: &str = "gzip, deflate";
/// Decoded bytes per received byte, beyond [`RATIO_FREE_BYTES`].
const RATIO_MAX: u64 = 100;
/// Decoded bytes that are never judged by the ratio.
const RATIO_FREE_BYTES: u64 = 1024 * 1024;
/// Received bytes that are decoded at once; bounds what one step can grow to.
const STEP_BYTES: usize = 4 * 1024;

enum Coding {
    Identity,
    Gzip(Box<GzDecoder<Vec<u8>>>),
    Deflate(Box<ZlibDecoder<Vec<u8>>>),
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
            Some("gzip" | "x-gzip") => Coding::Gzip(Box::new(GzDecoder::new(Vec::new()))),
            Some("deflate") => Coding::Deflate(Box::new(ZlibDecoder::new(Vec::new()))),
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
            let decoded = self.decode(step)?;
            self.count(step.len(), decoded.len())?;
            all.extend_from_slice(&decoded);
        }
        Ok(Bytes::from(all))
    }

    /// Ends the body: a coded one must be complete.
    pub(crate) fn finish(&mut self) -> Result<Bytes, NetworkFault> {
        let rest = match &mut self.coding {
            Coding::Gzip(d) if self.received > 0 => d.try_finish().map(|()| std::mem::take(d.get_mut())),
            Coding::Deflate(d) if self.received > 0 => d.try_finish().map(|()| std::mem::take(d.get_mut())),
            _ => Ok(Vec::new()),
        };
        let rest = rest.map_err(|_| protocol("the coded answer is truncated or damaged"))?;
        self.count(0, rest.len())?;
        Ok(Bytes::from(rest))
    }

    fn decode(&mut self, step: &[u8]) -> Result<Vec<u8>, NetworkFault> {
        let decoded = match &mut self.coding {
            Coding::Identity => Ok(step.to_vec()),
            Coding::Gzip(d) => {
                d.write_all(step).and_then(|()| d.flush()).map(|()| std::mem::take(d.get_mut()))
            }
            Coding::Deflate(d) => {
                d.write_all(step).and_then(|()| d.flush()).map(|()| std::mem::take(d.get_mut()))
            }
        };
        decoded.map_err(|_| protocol("the coded answer is truncated or damaged"))
    }

    fn count(&mut self, received: usize, decoded: usize) -> Result<(), NetworkFault> {
        self.received += received as u64;
        self.decoded += decoded as u64;
        if self.decoded > self.bytes_max {
            return Err(too_large(format!("the answer is larger than {} bytes", self.bytes_max)));
        }
        let proportion = self.received.saturating_mul(RATIO_MAX);
        if self.decoded.saturating_sub(RATIO_FREE_BYTES) > proportion {
            return Err(too_large(format!("the answer decodes to more than {RATIO_MAX} times its size")));
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
