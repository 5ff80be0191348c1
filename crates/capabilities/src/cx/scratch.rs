//! A small store in memory, for what a capability wants to keep between runs of one process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

/// Most entries; the first by name goes when another comes.
const ENTRIES_MAX: usize = 1_024;

/// Named values.
#[derive(Debug, Clone, Default)]
pub struct Scratch(Arc<Mutex<BTreeMap<String, Value>>>);

impl Scratch {
    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<Value> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Keeps a value under a name.
    pub fn put(&self, name: &str, value: Value) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= ENTRIES_MAX && !entries.contains_key(name) {
            entries.pop_first();
        }
        entries.insert(name.to_owned(), value);
    }
}
