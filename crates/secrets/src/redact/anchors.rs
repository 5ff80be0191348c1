//! Finds the places where a pattern may stand.
//!
//! Each pattern has anchors: four neighbouring byte classes that every hit contains. A filter passes over
//! the text; where it stops, a table tells which anchors stand there, and each is verified exactly.

mod filter;
mod list;

use std::sync::LazyLock;

use super::patterns::{self, Hits};
use crate::Profile;
use filter::Filter;

/// Bytes of an anchor.
const ANCHOR_BYTES: usize = 4;
/// Most anchors of a list: each has one bit.
const ANCHORS_MAX: usize = 64;
/// What stands before a text, for the anchors that begin with a mark.
const BEFORE_TEXT: u8 = b'\n';

/// Checks the place of an anchor and reports what stands there.
type Verify = fn(&[u8], usize, &mut Hits);

/// `^` stands for a byte that is no word character, `#` for a letter or digit, `?` for any byte; letters
/// match both cases in a folded anchor.
struct Anchor {
    classes: &'static str,
    folded: bool,
    verify: Verify,
}

const fn exact(classes: &'static str, verify: Verify) -> Anchor {
    Anchor { classes, folded: false, verify }
}

const fn folded(classes: &'static str, verify: Verify) -> Anchor {
    Anchor { classes, folded: true, verify }
}

impl Anchor {
    /// Anchors with a leading mark are verified at the place after it.
    fn marked(&self) -> bool {
        self.classes.starts_with('^')
    }
}

/// For every place of an anchor and every byte the anchors that the byte fits, one bit each.
struct Lanes {
    lanes: [[u64; 256]; ANCHOR_BYTES],
    anchors: &'static [Anchor],
}

impl Lanes {
    fn new(anchors: &'static [Anchor]) -> Self {
        const { assert!(list::COMMON.len() <= ANCHORS_MAX && list::EXPORT.len() <= ANCHORS_MAX) };
        let mut lanes = [[0; 256]; ANCHOR_BYTES];
        for (bit, anchor) in anchors.iter().enumerate() {
            for (class, lane) in anchor.classes.bytes().zip(&mut lanes) {
                for (byte, word) in (0..=u8::MAX).zip(lane) {
                    *word |= u64::from(fits(class, byte, anchor.folded)) << bit;
                }
            }
        }
        Lanes { lanes, anchors }
    }

    /// Verifies the anchors that the four bytes fit, of which the second stands at the place.
    fn verify(&self, text: &[u8], window: [u8; ANCHOR_BYTES], second: usize, hits: &mut Hits) {
        let [a, b, c, d] = window;
        let [of_a, of_b, of_c, of_d] = &self.lanes;
        let mut open = fitting(of_a, a) & fitting(of_b, b) & fitting(of_c, c) & fitting(of_d, d);
        while open != 0 {
            let bit = open.trailing_zeros() as usize;
            open &= open - 1;
            if let Some(anchor) = self.anchors.get(bit) {
                (anchor.verify)(text, second.saturating_sub(usize::from(!anchor.marked())), hits);
            }
        }
    }
}

#[inline]
fn fitting(lane: &[u64; 256], byte: u8) -> u64 {
    lane.get(usize::from(byte)).copied().unwrap_or_default()
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

static COMMON: LazyLock<(Filter, Lanes)> =
    LazyLock::new(|| (Filter::new(list::COMMON.iter()), Lanes::new(list::COMMON)));
static EXPORT: LazyLock<(Filter, Lanes)> =
    LazyLock::new(|| (Filter::new(list::COMMON.iter().chain(list::EXPORT)), Lanes::new(list::EXPORT)));

/// Verifies every anchor in the text and collects the hits of the profile's rules.
pub(super) fn find(text: &[u8], profile: Profile, hits: &mut Hits) {
    let common = &COMMON.1;
    if profile == Profile::Export {
        let (filter, export) = &*EXPORT;
        find_with(filter, &[common, export], text, hits);
        find_mail(text, hits);
    } else {
        find_with(&COMMON.0, &[common], text, hits);
    }
}

fn find_with(filter: &Filter, lists: &[&Lanes], text: &[u8], hits: &mut Hits) {
    let mut look = |window: Option<[u8; ANCHOR_BYTES]>, second: usize| {
        if let Some(window) = window {
            for lanes in lists {
                lanes.verify(text, window, second, hits);
            }
        }
    };
    let before = text.first_chunk().map(|[a, b, c]| [BEFORE_TEXT, *a, *b, *c]);
    look(before, 0);
    look(window(text, 0), 1);
    let rest = filter.scan(text, |at| {
        look(window(text, at), at + 1);
        look(window(text, at + 1), at + 2);
    });
    for at in rest..text.len() {
        look(window(text, at), at + 1);
    }
}

#[inline]
fn window(text: &[u8], at: usize) -> Option<[u8; ANCHOR_BYTES]> {
    text.get(at..)?.first_chunk().copied()
}

/// Mail addresses have no anchor but their sign.
fn find_mail(text: &[u8], hits: &mut Hits) {
    for sign in memchr::memchr_iter(b'@', text) {
        let around = sign.checked_sub(1).and_then(|before| text.get(before..)?.first_chunk());
        if let Some([before, _, after]) = around
            && before.is_ascii_alphanumeric()
            && after.is_ascii_alphanumeric()
        {
            patterns::email(text, sign - 1, hits);
        }
    }
}
