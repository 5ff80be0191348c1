//! Shares: so many at once for each; what is over gives its place back.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// How many places each has taken.
pub(crate) struct Shares<K>(Mutex<HashMap<K, usize>>);

/// One place of somebody's share, free again when it goes.
pub(crate) struct Share<K: Eq + Hash> {
    shares: Arc<Shares<K>>,
    of: K,
}

impl<K> Default for Shares<K> {
    fn default() -> Self {
        Shares(Mutex::default())
    }
}

impl<K: Clone + Eq + Hash> Shares<K> {
    /// Takes a place, unless so many are taken already.
    pub(crate) fn take(self: &Arc<Self>, of: K, most: usize) -> Option<Share<K>> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let places = taken.entry(of.clone()).or_default();
        if *places >= most {
            return None;
        }
        *places += 1;
        Some(Share { shares: Arc::clone(self), of })
    }
}

impl<K: Eq + Hash> Share<K> {
    /// Whose share it is.
    pub(crate) fn of(&self) -> &K {
        &self.of
    }
}

impl<K: Eq + Hash> Drop for Share<K> {
    fn drop(&mut self) {
        let mut taken = self.shares.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = taken.get_mut(&self.of) {
            *places = places.saturating_sub(1);
            if *places == 0 {
                taken.remove(&self.of);
            }
        }
    }
}
