//! The key under which the platform remembers a Part.

use loom_domain::PartId;
use sha1::{Digest, Sha1};

/// Namespace of Parts of Loom: drawn once, and the same in every version.
const NAMESPACE: [u8; 16] =
    [0x6b, 0x1f, 0x0c, 0x52, 0x8d, 0x3e, 0x4a, 0x77, 0x9a, 0x41, 0x2e, 0x5d, 0xc3, 0x90, 0x17, 0xbe];

/// UUID v5 of a Part's id (RFC 9562).
pub(super) fn of_part(part: &PartId) -> String {
    v5(&NAMESPACE, part.as_str())
}

fn v5(namespace: &[u8; 16], name: &str) -> String {
    let mut digest = Sha1::new();
    digest.update(namespace);
    digest.update(name.as_bytes());
    let digest: [u8; 20] = digest.finalize().into();
    let mut hex = String::with_capacity(36);
    for (at, byte) in digest.iter().take(16).enumerate() {
        let byte = match at {
            6 => (byte & 0x0f) | 0x50,
            8 => (byte & 0x3f) | 0x80,
            _ => *byte,
        };
        if matches!(at, 4 | 6 | 8 | 10) {
            hex.push('-');
        }
        hex.push_str(&hex::encode([byte]));
    }
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 9562, A.4: `www.example.com` in the namespace of DNS names.
    #[test]
    fn the_example_of_the_rfc_holds() {
        let dns =
            [0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8];
        assert_eq!(v5(&dns, "www.example.com"), "2ed6657d-e927-568b-95e1-2665a8aea6a2");
        assert_eq!(of_part(&PartId::new(1, 1)), of_part(&PartId::new(1, 1)));
        assert_ne!(of_part(&PartId::new(1, 1)), of_part(&PartId::new(1, 2)));
    }
}
