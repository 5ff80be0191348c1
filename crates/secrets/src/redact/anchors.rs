//! Finds the places where a pattern may stand.
//!
//! Each pattern has anchors: four neighbouring byte classes that every hit contains. Sixteen buckets of
//! anchors are looked for at once with one table load a byte; a place that passes is then verified exactly.

use std::sync::LazyLock;

use super::patterns::{self, Hits};
use crate::Profile;

/// Bytes of an anchor.
pub(super) const ANCHOR_BYTES: usize = 4;
const BUCKETS: usize = 16;
const BLOCK_BYTES: usize = 8;

/// Checks the place of an anchor and reports what stands there.
type Verify = fn(&[u8], usize, &mut Hits);

/// `^` stands for a byte that is no word character, `#` for a letter or digit, `?` for any byte; letters
/// match both cases in [`Anchor::folded`].
struct Anchor {
    bucket: usize,
    classes: &'static str,
    folded: bool,
    verify: Verify,
}

const fn exact(bucket: usize, classes: &'static str, verify: Verify) -> Anchor {
    Anchor { bucket, classes, folded: false, verify }
}

const fn folded(bucket: usize, classes: &'static str, verify: Verify) -> Anchor {
    Anchor { bucket, classes, folded: true, verify }
}

/// Anchors of one bucket are alike: a place that fits the classes of several of them passes too.
const ANCHORS: &[Anchor] = &[
    exact(0, "ghp_", patterns::token),
    exact(0, "gho_", patterns::token),
    exact(0, "ghu_", patterns::token),
    exact(0, "ghs_", patterns::token),
    exact(0, "ghr_", patterns::token),
    exact(0, "_pat", patterns::github_pat),
    exact(1, "glpa", patterns::token),
    exact(1, "xapp", patterns::token),
    exact(1, "xwfp", patterns::token),
    exact(1, "xox?", patterns::token),
    exact(2, "^t-#", patterns::token),
    exact(2, "^u-#", patterns::token),
    exact(2, "nt-#", patterns::token_after_escape),
    exact(2, "nu-#", patterns::token_after_escape),
    exact(3, "sk-#", patterns::token),
    exact(4, "AKIA", patterns::token),
    exact(4, "ASIA", patterns::token),
    exact(4, "AIza", patterns::token),
    exact(4, "ya29", patterns::token),
    exact(5, "tKey", patterns::azure_key),
    exact(6, "sk_l", patterns::token),
    exact(6, "rk_l", patterns::token),
    exact(6, "npm_", patterns::token),
    exact(6, "pypi", patterns::token),
    exact(7, "whse", patterns::token),
    exact(7, "whsk", patterns::token),
    exact(7, "_tok", patterns::loom_token),
    exact(7, "lct_", patterns::token),
    exact(8, "eyJ#", patterns::jwt),
    exact(9, "-BEG", patterns::pem_block),
    exact(9, "AGE-", patterns::age_key),
    exact(10, "://?", patterns::url_userinfo),
    folded(11, "riza", patterns::authorization),
    folded(11, "eare", patterns::bearer),
    folded(11, "asic", patterns::basic),
    folded(11, "ooki", patterns::cookie),
    folded(12, "sswo", patterns::key_name),
    folded(12, "sswd", patterns::key_name),
    folded(12, "ecre", patterns::key_name),
    folded(12, "oken", patterns::key_name),
    folded(13, "ikey", patterns::key_name),
    folded(13, "_key", patterns::key_name),
    folded(13, "-key", patterns::key_name),
    exact(14, "/hom", patterns::posix_path),
    exact(14, "/roo", patterns::posix_path),
    exact(14, "/tmp", patterns::posix_path),
    exact(14, "/var", patterns::posix_path),
    exact(14, "/mnt", patterns::posix_path),
    exact(14, "/med", patterns::posix_path),
    exact(14, "/etc", patterns::posix_path),
    exact(14, "/opt", patterns::posix_path),
    exact(14, "/Use", patterns::posix_path),
    exact(14, "/pri", patterns::posix_path),
    exact(10, "^~/#", patterns::home_path),
    exact(10, "^~/.", patterns::home_path),
    folded(9, "ile:", patterns::file_url),
    exact(15, "#:\\?", patterns::drive_path),
    exact(15, "^\\\\#", patterns::unc_path),
    exact(15, "\\\\\\\\", patterns::unc_path_escaped),
];

/// Anchors of the rules that only exports have.
const EXPORT_ANCHORS: &[Anchor] = &[
    exact(0, "#@#?", patterns::email),
    exact(1, "^10.", patterns::private_ipv4),
    exact(1, "^172", patterns::private_ipv4),
    exact(1, "^192", patterns::private_ipv4),
    exact(1, "^169", patterns::private_ipv4),
    folded(2, "fe80", patterns::private_ipv6),
    folded(3, "^fc#", patterns::private_ipv6),
    folded(3, "^fd#", patterns::private_ipv6),
    folded(4, ".loc", patterns::private_host),
    folded(4, ".int", patterns::private_host),
];

/// For every byte four lanes of sixteen bits; a clear bit: the byte fits that place of the bucket's anchors.
struct Tables {
    classes: [u64; 256],
    anchors: [Vec<&'static Anchor>; BUCKETS],
}

static COMMON: LazyLock<Tables> = LazyLock::new(|| Tables::new(ANCHORS));
static EXPORT: LazyLock<Tables> = LazyLock::new(|| Tables::new(EXPORT_ANCHORS));

impl Tables {
    fn new(anchors: &'static [Anchor]) -> Self {
        let mut tables = Tables { classes: [u64::MAX; 256], anchors: Default::default() };
        for anchor in anchors {
            tables.add(anchor);
        }
        tables
    }

    fn add(&mut self, anchor: &'static Anchor) {
        for (lane, class) in anchor.classes.bytes().enumerate() {
            let bit = 1 << (lane * BUCKETS + anchor.bucket);
            for (byte, word) in (0..=u8::MAX).zip(&mut self.classes) {
                if fits(class, byte, anchor.folded) {
                    *word &= !bit;
                }
            }
        }
        if let Some(list) = self.anchors.get_mut(anchor.bucket) {
            list.push(anchor);
        }
    }

    #[inline]
    fn lane(&self, byte: u8) -> u64 {
        self.classes.get(usize::from(byte)).copied().unwrap_or(u64::MAX)
    }
}

fn fits(class: u8, byte: u8, folded: bool) -> bool {
    match class {
        b'?' => true,
        b'^' => !patterns::is_word(byte),
        b'#' => byte.is_ascii_alphanumeric(),
        _ if folded => class.eq_ignore_ascii_case(&byte),
        _ => class == byte,
    }
}

/// Verifies every anchor in the text and collects the hits of the profile's rules.
pub(super) fn find(text: &[u8], profile: Profile, hits: &mut Hits) {
    find_with(&COMMON, text, hits);
    if profile == Profile::Export {
        find_with(&EXPORT, text, hits);
    }
}

fn find_with(tables: &Tables, text: &[u8], hits: &mut Hits) {
    let mark = tables.lane(b'\n');
    let (mut a, mut b, mut c) = (mark, mark, mark);
    let (blocks, rest) = text.as_chunks::<BLOCK_BYTES>();
    for (at, block) in (0..).step_by(BLOCK_BYTES).zip(blocks) {
        let lanes = block.map(|byte| tables.lane(byte));
        let [d, e, f, g, h, i, j, k] = lanes;
        let fits = [
            ends(a, b, c, d),
            ends(b, c, d, e),
            ends(c, d, e, f),
            ends(d, e, f, g),
            ends(e, f, g, h),
            ends(f, g, h, i),
            ends(g, h, i, j),
            ends(h, i, j, k),
        ];
        let all = fits.iter().fold(u64::MAX, |all, one| all & one);
        if all >> 48 != 0xffff {
            for (place, one) in fits.iter().enumerate() {
                verify(tables, text, at + place, *one, hits);
            }
        }
        (a, b, c) = (i, j, k);
    }
    for (at, byte) in (text.len() - rest.len()..).zip(rest) {
        let d = tables.lane(*byte);
        verify(tables, text, at, ends(a, b, c, d), hits);
        (a, b, c) = (b, c, d);
    }
}

#[inline]
fn ends(a: u64, b: u64, c: u64, d: u64) -> u64 {
    (a << 48 | b << 32) | (c << 16 | d)
}

#[inline]
fn verify(tables: &Tables, text: &[u8], last: usize, state: u64, hits: &mut Hits) {
    let mut open = !(state >> 48) & 0xffff;
    while open != 0 {
        let bucket = open.trailing_zeros();
        open &= open - 1;
        for anchor in tables.anchors.get(bucket as usize).map(Vec::as_slice).unwrap_or_default() {
            check(anchor, text, last, hits);
        }
    }
}

fn check(anchor: &Anchor, text: &[u8], last: usize, hits: &mut Hits) {
    // The anchor may begin before the text with the mark that stands for its start.
    let first = last + 1;
    let classes = anchor.classes.as_bytes();
    let missing = ANCHOR_BYTES.saturating_sub(first);
    let here = text.get(first.saturating_sub(ANCHOR_BYTES)..first).unwrap_or_default();
    let marked = classes.iter().take(missing).all(|class| *class == b'^');
    let fit = classes.iter().skip(missing).zip(here).all(|(class, byte)| fits(*class, *byte, anchor.folded));
    if marked && fit {
        // Anchors with a leading mark hand over the place after it.
        let skip = usize::from(classes.first() == Some(&b'^'));
        (anchor.verify)(text, (first + skip).saturating_sub(ANCHOR_BYTES), hits);
    }
}
