//! What stands at an anchor: each function checks one place and reports its hit.
//!
//! A hit is decided by a bounded head; what follows, its tail, runs on for as long as the text goes.

mod addresses;
mod blocks;
mod headers;
mod keys;
mod paths;
mod tokens;

pub(super) use addresses::{email, private_host, private_ipv4, private_ipv6};
pub(super) use blocks::{jwt, pem_block, url_userinfo};
pub(super) use headers::{authorization, basic, bearer, cookie};
pub use keys::secret_key;
pub(super) use keys::{content_bytes, key_name};
pub(super) use paths::{drive_path, file_url, home_path, posix_path, unc_path, unc_path_escaped};
pub(super) use tokens::{age_key, azure_key, github_pat, loom_token, token, token_after_escape};

use super::marker;
use crate::Rule;

/// Bytes after its anchor that decide whether a place is a hit.
pub(super) const HEAD_BYTES_MAX: usize = 6144;

/// What belongs to a hit after its head.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tail {
    /// Nothing.
    None,
    /// All bytes of a class.
    Class(fn(u8) -> bool),
    /// Everything before the quote that is escaped by so many backslashes.
    Quoted { quote: u8, escapes: usize },
    /// Everything to the end line of a PEM block.
    Pem,
}

impl Tail {
    pub(super) fn is_same(self, other: Tail) -> bool {
        match (self, other) {
            (Tail::Class(a), Tail::Class(b)) => std::ptr::fn_addr_eq(a, b),
            (Tail::Quoted { quote: a, escapes: n }, Tail::Quoted { quote: b, escapes: m }) => {
                (a, n) == (b, m)
            }
            (Tail::Pem, Tail::Pem) | (Tail::None, Tail::None) => true,
            _ => false,
        }
    }

    /// Follows the tail from `from`: where it ends, and whether the text ended first.
    pub(super) fn follow(self, text: &[u8], from: usize) -> (usize, bool) {
        let rest = text.get(from..).unwrap_or_default();
        let end = match self {
            Tail::None => Some(from),
            Tail::Class(class) => rest.iter().position(|byte| !class(*byte)).map(|at| from + at),
            Tail::Quoted { quote, escapes } => keys::closing_quote(text, from, quote, escapes),
            Tail::Pem => blocks::pem_end(text, from),
        };
        end.map_or((text.len(), true), |end| (end, false))
    }
}

/// A place that a rule matches.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawHit {
    pub(super) rule: Rule,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) tail: Tail,
    /// Whether the text ended before the tail did.
    pub(super) is_open: bool,
}

/// Collects hits.
#[derive(Debug, Default)]
pub(super) struct Hits {
    pub(super) list: Vec<RawHit>,
    followed: Vec<Followed>,
}

/// A tail that was followed: places inside of it share its end, so no stretch of text is walked twice.
#[derive(Debug)]
struct Followed {
    tail: Tail,
    from: usize,
    end: usize,
    open: bool,
}

impl Hits {
    /// Adds a hit whose tail is followed from `from`.
    fn add(&mut self, text: &[u8], rule: Rule, start: usize, from: usize, tail: Tail) {
        let (end, is_open) = self.follow(text, from, tail);
        self.list.push(RawHit { rule, start, end, tail, is_open });
    }

    fn follow(&mut self, text: &[u8], from: usize, tail: Tail) -> (usize, bool) {
        let same = self.followed.iter_mut().find(|known| known.tail.is_same(tail));
        if let Some(known) = same.as_ref().filter(|known| known.from <= from && from <= known.end) {
            return (known.end, known.open);
        }
        let (end, open) = tail.follow(text, from);
        let followed = Followed { tail, from, end, open };
        match same {
            Some(known) => *known = followed,
            None => self.followed.push(followed),
        }
        (end, open)
    }

    /// Adds a hit without a tail.
    pub(super) fn add_closed(&mut self, rule: Rule, start: usize, end: usize) {
        self.list.push(RawHit { rule, start, end, tail: Tail::None, is_open: false });
    }
}

/// Letters, digits and the underscore.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn byte_at(text: &[u8], at: usize) -> Option<u8> {
    text.get(at).copied()
}

fn starts_with(text: &[u8], at: usize, literal: &[u8]) -> bool {
    text.get(at..at + literal.len()) == Some(literal)
}

fn starts_with_folded(text: &[u8], at: usize, literal: &[u8]) -> bool {
    text.get(at..at + literal.len()).is_some_and(|here| here.eq_ignore_ascii_case(literal))
}

/// Whether a word may begin at the place. The end of a marker is none: text must read the same after a
/// second run.
fn begins_word(text: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|at| byte_at(text, at)) else { return true };
    if is_word(before) {
        return after_escape(text, at);
    }
    before != b']' || marker::ending_at(text, at).is_none()
}

/// Whether `\n`, `\u000a` or `%0A` stands before the place.
fn after_escape(text: &[u8], at: usize) -> bool {
    let back = |n: usize| at.checked_sub(n).and_then(|at| byte_at(text, at));
    let escaped = back(2) == Some(b'\\') && matches!(back(1), Some(b'n' | b'r' | b't'));
    let unicode = back(6) == Some(b'\\') && back(5) == Some(b'u');
    let percent = back(3) == Some(b'%') && hex(back(1)) && hex(back(2));
    escaped || unicode || percent
}

fn hex(byte: Option<u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_hexdigit())
}

/// Number of bytes of the class from the place on, counted up to `most`.
fn run(text: &[u8], at: usize, class: impl Fn(u8) -> bool, most: usize) -> usize {
    text.iter().skip(at).take(most).take_while(|byte| class(**byte)).count()
}

/// Number of bytes of the class before the place, counted up to `most`.
fn run_back(text: &[u8], at: usize, class: impl Fn(u8) -> bool, most: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.iter().rev().take(most).take_while(|byte| class(**byte)).count()
}
