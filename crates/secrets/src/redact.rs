//! The one redactor in front of every sink.

mod anchors;
mod exact;
mod forms;
mod input;
mod joined;
mod json;
mod marker;
mod patterns;
mod pieces;
mod report;
mod rule;
mod scan;
mod writer;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

use loom_domain::{Code, Error, Result};

pub use input::find_secret_in_input;
pub use patterns::secret_key;
pub use report::Report;
pub use rule::{Profile, Rule};
pub use writer::RedactWriter;

use crate::{SECRET_BYTES_MIN, Secret};
use scan::{Engine, Span, merged};

/// Most values that are known at once; the oldest is dropped for the next.
const VALUES_MAX: usize = 16_384;
/// Most paths of running commands that are left readable.
const TYPED_PATHS_MAX: usize = 64;

/// Where a rule matched, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// The rule.
    pub rule: Rule,
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
}

impl Hit {
    fn of(span: &Span) -> Self {
        Hit { rule: span.rule, start: span.start, end: span.end }
    }
}

/// Knows every resolved secret and masks them, and whatever looks like one. Clones share what they know.
#[derive(Clone, Default)]
pub struct Redactor(Arc<RwLock<State>>);

#[derive(Default)]
struct State {
    /// Registered values in the order of registration.
    values: Vec<Secret>,
    typed_paths: BTreeSet<String>,
    /// Built at the first use after a change.
    engine: Option<Arc<Engine>>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redactor")
    }
}

impl Redactor {
    /// Makes a redactor that knows no values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Learns a value in all its forms. Values under eight bytes are too common to mask and are ignored.
    pub fn register(&self, secret: &Secret) {
        if secret.len() < SECRET_BYTES_MIN || self.knows(secret) {
            return;
        }
        self.change(|state| {
            if state.values.len() >= VALUES_MAX {
                state.values.remove(0);
            }
            if !state.values.contains(secret) {
                state.values.push(secret.clone());
            }
        });
    }

    /// Forgets a value, such as a token that was revoked.
    pub fn forget(&self, secret: &Secret) {
        self.change(|state| state.values.retain(|known| known != secret));
    }

    /// Leaves a path readable that stands in the running command.
    pub fn allow_typed_path(&self, path: &str) {
        self.change(|state| {
            if state.typed_paths.len() < TYPED_PATHS_MAX {
                state.typed_paths.insert(path.to_owned());
            }
        });
    }

    /// Masks every hit of the profile's rules.
    pub fn redact<'a>(&self, text: &'a str, profile: Profile) -> Cow<'a, str> {
        self.redact_reported(text, profile, &mut Report::default())
    }

    /// Masks every hit and counts them.
    pub fn redact_reported<'a>(&self, text: &'a str, profile: Profile, report: &mut Report) -> Cow<'a, str> {
        let hits = self.scan(text.as_bytes(), profile);
        if hits.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for hit in hits {
            out.push_str(text.get(from..hit.start).unwrap_or_default());
            out.push_str(hit.rule.marker());
            report.count(hit.rule);
            from = hit.end;
        }
        out.push_str(text.get(from..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// Masks bytes; what is not UTF-8 is withheld.
    pub fn redact_bytes<'a>(&self, bytes: &'a [u8], profile: Profile) -> Cow<'a, str> {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.redact(text, profile),
            Err(_) => Cow::Owned(withheld(bytes.len() as u64)),
        }
    }

    /// Finds every hit, in order and without overlap.
    pub fn scan(&self, text: impl AsRef<[u8]>, profile: Profile) -> Vec<Hit> {
        merged(text.as_ref(), &self.engine().raw_hits(text.as_ref(), profile))
    }

    /// Whether the text holds a registered value in any form.
    pub fn holds_exact(&self, text: impl AsRef<[u8]>) -> bool {
        self.engine().holds_exact(text.as_ref())
    }

    /// Refuses an export that holds a secret.
    pub fn check_export(&self, text: &str) -> Result<()> {
        match self.scan(text, Profile::Export).iter().find(|hit| hit.rule.is_secret()) {
            None => Ok(()),
            Some(hit) => Err(Error::new(Code::SecretInInput, "the export holds a secret and was refused")
                .with_detail("rule", hit.rule.id())),
        }
    }

    fn knows(&self, secret: &Secret) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).values.contains(secret)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.0.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        state.engine = None;
    }

    fn engine(&self) -> Arc<Engine> {
        if let Some(engine) = &self.0.read().unwrap_or_else(PoisonError::into_inner).engine {
            return engine.clone();
        }
        let mut state = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let State { values, typed_paths, engine } = &mut *state;
        engine.get_or_insert_with(|| Arc::new(Engine::new(values, typed_paths.clone()))).clone()
    }
}

/// What stands for bytes that cannot be scanned.
fn withheld(bytes: u64) -> String {
    format!("[withheld: {bytes} bytes]")
}

#[cfg(test)]
mod tests;
