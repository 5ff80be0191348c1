//! Whole answers in memory, the least recently used out first.

use std::sync::{Mutex, PoisonError};

use lru::LruCache;

use crate::response::Response;

/// Bytes of bodies and heads that are kept.
const BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes that an answer takes beside its body and headers.
const ENTRY_BYTES: usize = 512;

/// The answers.
pub(crate) struct Memory {
    state: Mutex<State>,
}

struct State {
    answers: LruCache<String, Response>,
    bytes: usize,
    bytes_max: usize,
}

impl Default for Memory {
    fn default() -> Self {
        Self::of_size(BYTES_MAX)
    }
}

impl Memory {
    fn of_size(bytes_max: usize) -> Self {
        Memory { state: Mutex::new(State { answers: LruCache::unbounded(), bytes: 0, bytes_max }) }
    }

    pub(crate) fn get(&self, key: &str) -> Option<Response> {
        self.lock().answers.get(key).cloned()
    }

    pub(crate) fn put(&self, key: &str, response: &Response) {
        let mut state = self.lock();
        state.remove(key);
        let size = size_of(response);
        if size > state.bytes_max {
            return;
        }
        state.bytes += size;
        state.answers.put(key.to_owned(), response.clone());
        while state.bytes > state.bytes_max {
            let Some((_, oldest)) = state.answers.pop_lru() else { break };
            state.bytes = state.bytes.saturating_sub(size_of(&oldest));
        }
    }

    pub(crate) fn remove(&self, key: &str) {
        self.lock().remove(key);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn remove(&mut self, key: &str) {
        if let Some(old) = self.answers.pop(key) {
            self.bytes = self.bytes.saturating_sub(size_of(&old));
        }
    }
}

fn size_of(response: &Response) -> usize {
    let head: usize = response.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    response.body.len() + head + ENTRY_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::Meta;

    fn answer(bytes: usize) -> Response {
        let meta = Meta {
            request_id: String::new(),
            attempts: 1,
            from_cache: false,
            final_url: String::new(),
            elapsed_ms: 0,
            waited_ms: 0,
            rate: None,
        };
        Response::new(200, http::HeaderMap::new(), vec![0; bytes].into(), meta)
    }

    #[test]
    fn the_least_recently_used_goes_first_and_too_large_ones_never_come_in() {
        let memory = Memory::of_size(3 * (ENTRY_BYTES + 100));
        for key in ["a", "b", "c"] {
            memory.put(key, &answer(100));
        }
        assert!(memory.get("a").is_some());
        memory.put("d", &answer(100));
        let there = |key: &str| memory.get(key).is_some();
        assert_eq!(["a", "b", "c", "d"].map(there), [true, false, true, true]);
        memory.put("a", &answer(100_000));
        assert_eq!(["a", "c", "d"].map(there), [false, true, true]);
        memory.remove("c");
        memory.remove("d");
        assert_eq!(memory.lock().bytes, 0);
    }
}
