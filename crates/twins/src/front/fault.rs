//! Planned failures, matched by method and path.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// A planned failure of the next requests that match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault<A> {
    /// Path as in the provider's reference, `*` for any run of characters: `/repos/*/pulls/12/reviews`.
    pub path: String,
    /// HTTP method; none means any.
    #[serde(default = "none")]
    pub method: Option<String>,
    /// Matching requests to let pass first.
    #[serde(default)]
    pub skip: u32,
    /// Matching requests to fail.
    #[serde(default = "one")]
    pub times: u32,
    /// What happens to them.
    pub action: A,
}

fn none() -> Option<String> {
    None
}

fn one() -> u32 {
    1
}

impl<A> Fault<A> {
    /// Fails the next request of a path.
    pub fn once(path: &str, action: A) -> Self {
        Self::times(path, 1, action)
    }

    /// Fails the next `times` requests of a path.
    pub fn times(path: &str, times: u32, action: A) -> Self {
        Self { path: path.into(), method: None, skip: 0, times, action }
    }

    /// Fails every request of a path until the faults are cleared.
    pub fn always(path: &str, action: A) -> Self {
        Self::times(path, u32::MAX, action)
    }

    /// Lets this many matching requests pass first.
    pub fn after(self, skip: u32) -> Self {
        Self { skip, ..self }
    }
}

/// The failures still planned.
#[derive(Debug)]
pub(crate) struct Faults<A>(Mutex<Vec<Fault<A>>>);

impl<A> Default for Faults<A> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<A: Clone> Faults<A> {
    pub(crate) fn plan(&self, fault: Fault<A>) {
        self.lock().push(fault);
    }

    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    pub(crate) fn all(&self) -> Vec<Fault<A>> {
        self.lock().clone()
    }

    /// Takes the action planned for this request, if any, and counts it down.
    pub(crate) fn take(&self, method: &str, path: &str) -> Option<A> {
        let mut faults = self.lock();
        let is_meant = |f: &Fault<A>| {
            f.method.as_deref().is_none_or(|m| m.eq_ignore_ascii_case(method)) && matches(&f.path, path)
        };
        let at = faults.iter().position(is_meant)?;
        let fault = faults.get_mut(at)?;
        if fault.skip > 0 {
            fault.skip -= 1;
            return None;
        }
        let action = fault.action.clone();
        if fault.times != u32::MAX {
            fault.times = fault.times.saturating_sub(1);
        }
        if fault.times == 0 {
            faults.remove(at);
        }
        Some(action)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Fault<A>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the pattern covers the whole path.
fn matches(pattern: &str, path: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == path };
    let Some(rest) = path.strip_prefix(head) else { return false };
    let starts = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
    starts.into_iter().any(|at| rest.get(at..).is_some_and(|rest| matches(tail, rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_covers_the_whole_path() {
        assert!(matches("*", "/user"));
        assert!(matches("/repos/*/pulls/12/reviews", "/repos/acme/tool/pulls/12/reviews"));
        assert!(!matches("/repos/*/pulls/12", "/repos/acme/tool/pulls/12/reviews"));
        assert!(!matches("/user", "/users"));
    }

    #[test]
    fn a_fault_skips_then_counts_down() {
        let faults = Faults::default();
        faults.plan(Fault::times("/a*", 2, 'x').after(1));
        let taken: Vec<_> = (0..4).map(|_| faults.take("GET", "/a/b")).collect();
        assert_eq!(taken, [None, Some('x'), Some('x'), None]);
        assert_eq!(faults.take("GET", "/b"), None);
        faults.plan(Fault { method: Some("post".into()), ..Fault::always("/c", 'y') });
        assert_eq!((faults.take("GET", "/c"), faults.take("POST", "/c")), (None, Some('y')));
        assert_eq!((faults.take("POST", "/c"), faults.all().len()), (Some('y'), 1));
    }
}
