//! What keeps a program within its limits: time, steps and the size of each value that it builds.

use std::cell::Cell;
use std::time::{Duration, Instant};

use jaq_core::box_iter::box_once;
use jaq_core::data::HasLut;
use jaq_core::native::{Fun, bome, v};
use jaq_core::{DataT, Exn, Lut, Native};
use jaq_json::{Num, Val};
use serde_json::Value;

use super::{Failure, to_val};

/// Bytes that one value may take.
const VALUE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes that a repeated text may take.
const REPEATED_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of a text that is searched by a pattern.
const SEARCHED_BYTES_MAX: usize = 64 * 1024;
/// Entries of a list that is searched.
const SEARCHED_ITEMS_MAX: usize = 4_096;
/// Pairs of entries that one subtraction compares.
const PAIRS_MAX: usize = 4_000_000;
/// Bits of a whole number.
const NUMBER_BITS_MAX: u64 = 4_096;
/// Deepest value.
const DEPTH_MAX: usize = 128;
/// Bytes of a value without what it points to.
const NODE_BYTES: usize = 16;
const MEMBER_BYTES: usize = 48;
/// Steps of one item.
const STEPS_MAX: u64 = 5_000_000;

/// What is left for one item.
#[derive(Debug)]
pub(super) struct Fuel {
    until: Instant,
    steps: Cell<u64>,
}

/// The limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spent {
    Time,
    Memory,
}

impl Spent {
    pub(super) fn failure(self) -> Failure {
        match self {
            Spent::Time => Failure::Limit("it took over 200 ms"),
            Spent::Memory => Failure::Limit("it builds a value that is too large or too deep"),
        }
    }

    /// The limit behind an exception, if one was.
    pub(super) fn of<V>(exception: Exn<'_, V>) -> Option<Self> {
        match exception.get_halt() {
            Ok(1) => Some(Spent::Time),
            Ok(_) => Some(Spent::Memory),
            Err(_) => None,
        }
    }

    /// An exception that no `try` catches.
    fn thrown<'a, V>(self) -> Exn<'a, V> {
        Exn::halt(match self {
            Spent::Time => 1,
            Spent::Memory => 2,
        })
    }
}

impl Fuel {
    pub(super) fn new(limit: Duration) -> Self {
        Fuel { until: Instant::now() + limit, steps: Cell::new(0) }
    }

    fn step(&self) -> Result<(), Spent> {
        let steps = self.steps.get() + 1;
        self.steps.set(steps);
        if steps > STEPS_MAX || Instant::now() >= self.until { Err(Spent::Time) } else { Ok(()) }
    }

    /// Measures a value as if it shared nothing.
    pub(super) fn weigh(&self, value: &Val) -> Result<(), Spent> {
        self.step()?;
        let mut left = VALUE_BYTES_MAX;
        if fits(value, 0, &mut left) { Ok(()) } else { Err(Spent::Memory) }
    }
}

fn fits(value: &Val, depth: usize, left: &mut usize) -> bool {
    let own = match value {
        Val::BStr(text) | Val::TStr(text) => NODE_BYTES + text.len(),
        Val::Num(Num::Dec(digits)) => NODE_BYTES + digits.len(),
        Val::Num(Num::BigInt(number)) if number.bits() > NUMBER_BITS_MAX => return false,
        Val::Obj(members) => NODE_BYTES + members.len() * MEMBER_BYTES,
        _ => NODE_BYTES,
    };
    let Some(rest) = left.checked_sub(own) else { return false };
    *left = rest;
    match value {
        Val::Arr(items) => depth < DEPTH_MAX && items.iter().all(|item| fits(item, depth + 1, left)),
        Val::Obj(members) => {
            depth < DEPTH_MAX
                && members
                    .iter()
                    .all(|(key, member)| fits(key, depth + 1, left) && fits(member, depth + 1, left))
        }
        _ => true,
    }
}

/// Marks the data that programs of this room work on.
pub(super) struct Metered;

/// What the native filters of a program can see.
#[derive(Clone)]
pub(super) struct Lent<'a> {
    pub(super) lut: &'a Lut<Metered>,
    pub(super) fuel: &'a Fuel,
}

impl DataT for Metered {
    type V<'a> = Val;
    type Data<'a> = Lent<'a>;
}

impl<'a> HasLut<'a, Metered> for Lent<'a> {
    fn lut(&self) -> &'a Lut<Metered> {
        self.lut
    }
}

/// Natives that reach outside, or that are replaced by ones with limits.
const LEFT_OUT: &[&str] =
    &["halt", "env", "now", "localtime", "strflocaltime", "debug_empty", "stderr_empty", "fromjson"];

/// Every native filter that a program may come to.
pub(super) fn funs() -> impl Iterator<Item = Fun<Metered>> {
    let library = jaq_core::funs::<Metered>().chain(jaq_std::funs()).chain(jaq_json::funs());
    library.filter(|(name, ..)| !LEFT_OUT.contains(name)).chain(own())
}

fn own() -> [Fun<Metered>; 6] {
    let step = Native::<Metered>::new(|cv| {
        let done = cv.0.data().fuel.step();
        box_once(done.map(|()| cv.1).map_err(Spent::thrown))
    })
    .with_paths(|cv| {
        let done = cv.0.data().fuel.step();
        box_once(done.map(|()| cv.1).map_err(Spent::thrown))
    })
    .with_update(|cv, update| match cv.0.data().fuel.step() {
        Ok(()) => update(cv.1),
        Err(spent) => box_once(Err(spent.thrown())),
    });
    let weigh = Native::<Metered>::new(|cv| {
        let done = cv.0.data().fuel.weigh(&cv.1);
        box_once(done.map(|()| cv.1).map_err(Spent::thrown))
    })
    .with_paths(|cv| {
        let done = cv.0.data().fuel.weigh(&cv.1.0);
        box_once(done.map(|()| cv.1).map_err(Spent::thrown))
    })
    .with_update(|cv, update| match cv.0.data().fuel.weigh(&cv.1) {
        Ok(()) => update(cv.1),
        Err(spent) => box_once(Err(spent.thrown())),
    });
    let multiply = Native::<Metered>::new(|mut cv| {
        let right = cv.0.pop_var();
        let left = cv.0.pop_var();
        if is_vast(&left, &right) || is_vast(&right, &left) {
            return box_once(Err(Spent::Memory.thrown()));
        }
        bome(left * right)
    });
    let subtract = Native::<Metered>::new(|mut cv| {
        let right = cv.0.pop_var();
        let left = cv.0.pop_var();
        if let (Val::Arr(all), Val::Arr(gone)) = (&left, &right)
            && all.len().saturating_mul(gone.len()) > PAIRS_MAX
        {
            return box_once(Err(Spent::Time.thrown()));
        }
        bome(left - right)
    });
    let short = Native::<Metered>::new(|cv| match is_short(&cv.1) {
        true => box_once(Ok(cv.1)),
        false => box_once(Err(Spent::Time.thrown())),
    });
    let from_json = Native::<Metered>::new(|cv| bome(from_json(&cv.1)));
    [
        ("loom_step", v(0), step),
        ("loom_weigh", v(0), weigh),
        ("loom_multiply", v(2), multiply),
        ("loom_subtract", v(2), subtract),
        ("loom_short", v(0), short),
        ("fromjson", v(0), from_json),
    ]
}

/// Whether a search in it ends soon.
fn is_short(value: &Val) -> bool {
    match value {
        Val::BStr(text) | Val::TStr(text) => text.len() <= SEARCHED_BYTES_MAX,
        Val::Arr(items) => items.len() <= SEARCHED_ITEMS_MAX,
        _ => true,
    }
}

/// Whether a product would be larger than anybody needs.
fn is_vast(one: &Val, other: &Val) -> bool {
    match (one, other) {
        (Val::BStr(text) | Val::TStr(text), Val::Num(Num::Int(times))) => {
            usize::try_from(*times).is_ok_and(|times| text.len().saturating_mul(times) > REPEATED_BYTES_MAX)
        }
        (Val::BStr(_) | Val::TStr(_), Val::Num(Num::BigInt(_))) => true,
        (Val::Num(Num::BigInt(number)), _) => number.bits() > NUMBER_BITS_MAX,
        _ => false,
    }
}

/// One document; deeper ones than an answer may have are refused.
fn from_json(value: &Val) -> jaq_core::ValR<Val> {
    let wrong = || jaq_core::Error::str("not a JSON document");
    let Val::TStr(text) = value else { return Err(wrong()) };
    let parsed: Value = serde_json::from_slice(text).map_err(|_| wrong())?;
    to_val(&parsed).ok_or_else(wrong)
}
